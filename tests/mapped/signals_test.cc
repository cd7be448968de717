// SPDX-License-Identifier: MIT
// Signals are the program's, masks and numbers a thread's.
#include "agents.h"

#include "nopal/mapped/sharing.h"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using test::agent;
using mapped_signals = test::mapped;

std::atomic<int> handled{0};
std::atomic<long> handled_by{0};
void note(int) {
  handled_by = gettid();
  ++handled;
}
void wait_for(const std::atomic<int>& counter, int value) {
  while (counter != value)
    sched_yield();
}

TEST_F(mapped_signals, a_handler_that_one_installs_runs_in_all) {
  handled = 0;
  a.run([] { std::signal(SIGUSR1, note); });
  long tid = 0;
  b.run([&] {
    tid = gettid();
    std::raise(SIGUSR1);
  });
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(handled_by, tid);
  a.run([&] { pthread_kill(b.thread(), SIGUSR1); });
  wait_for(handled, 2);
  EXPECT_EQ(handled_by, tid);
  b.run([] { kill(getpid(), SIGUSR1); }); // the program: one handler, in the first process
  wait_for(handled, 3);
  struct sigaction before{};
  b.run([&] { sigaction(SIGUSR1, nullptr, &before); });
  EXPECT_EQ(before.sa_handler, note);
  std::signal(SIGUSR1, SIG_DFL);
  a.run([&] { sigaction(SIGUSR1, nullptr, &before); });
  EXPECT_EQ(before.sa_handler, SIG_DFL);
}

__attribute__((no_sanitize("undefined"))) void touch_nothing() {
  static volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}
__attribute__((no_sanitize("undefined"))) void divide_by_zero() {
  volatile int zero = 0;
  zero = 1 / zero;
}

TEST_F(mapped_signals, a_fault_reaches_the_handler_of_all) {
  static sigjmp_buf back;
  struct sigaction jump{}, before{};
  jump.sa_handler = [](int) { siglongjmp(back, 1); };
  a.run([&] { sigaction(SIGSEGV, &jump, &before); });
  b.run([] {
    if (sigsetjmp(back, 1) == 0) {
      touch_nothing();
      ADD_FAILURE() << "no fault";
    }
  });
  sigaction(SIGSEGV, &before, nullptr);
  sigaction(SIGFPE, &jump, &before);
  b.run([] {
    if (sigsetjmp(back, 1) == 0)
      divide_by_zero();
  });
  sigaction(SIGFPE, &before, nullptr);
}

TEST_F(mapped_signals, a_signal_to_the_group_runs_one_handler) {
  const pid_t program = fork(); // a group of its own
  if (program == 0) {
    setpgid(0, 0);
    handled = 0;
    std::signal(SIGUSR2, note);
    agent own, other;
    own.run([] { kill(0, SIGUSR2); });
    other.run([] {});
    wait_for(handled, 1);
    own.run([] {});
    other.run([] {});
    _exit(handled);
  }
  int status = 0;
  EXPECT_EQ(waitpid(program, &status, 0), program);
  EXPECT_EQ(status, 1 << 8);
}

TEST_F(mapped_signals, masks_are_of_threads_and_pending_signals_come) {
  handled = 0;
  std::signal(SIGUSR1, note);
  a.run([] {
    sigset_t set;
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, nullptr);
    std::raise(SIGUSR1);
    EXPECT_EQ(handled, 0);
    getpid(); // trapped all the same
    sigemptyset(&set);
    pthread_sigmask(SIG_SETMASK, &set, nullptr);
    EXPECT_EQ(handled, 1);
  });
  std::signal(SIGUSR1, SIG_DFL);
}

// A process maps at a fault what others have mapped, also where the program blocks faults.
TEST_F(mapped_signals, faults_that_are_sent_wait_where_they_are_blocked_and_others_do_not) {
  handled = 0;
  struct sigaction before{}, noted{};
  noted.sa_handler = note;
  sigaction(SIGSEGV, &noted, &before);
  char* at = nullptr;
  a.run([] {
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::raise(SIGSEGV);
    std::raise(SIGSEGV);
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    EXPECT_TRUE(sigismember(&now, SIGSEGV));
  });
  EXPECT_EQ(handled, 0);
  b.run([&] {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    at = static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0));
    close(file);
  });
  a.run([&] {
    EXPECT_EQ(at[1], 'E');
    EXPECT_EQ(handled, 0);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    EXPECT_EQ(handled, 1);
  });
  sigaction(SIGSEGV, &before, nullptr);
  munmap(at, 4096);
}

// docs/limits.md: what the kernel and the C library know a thread by.
TEST_F(mapped_signals, a_thread_has_another_number_once_it_is_a_process) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t early, late;
  pthread_mutex_init(&early, &recursive);
  pthread_mutex_init(&late, &recursive);
  const auto is_task_of = [](const std::string& process, pid_t thread) {
    return access(("/proc/" + process + "/task/" + std::to_string(thread)).c_str(), F_OK) == 0;
  };
  std::thread{[&] {
    const pid_t before = gettid();
    const pthread_t self = pthread_self();
    EXPECT_TRUE(is_task_of("self", before));
    EXPECT_EQ(pthread_mutex_lock(&early), 0);
    nopal::mapped::become_process();
    EXPECT_NE(gettid(), before);
    EXPECT_TRUE(pthread_equal(pthread_self(), self));
    EXPECT_TRUE(is_task_of("self", gettid()));
    EXPECT_FALSE(is_task_of(std::to_string(getpid()), gettid()));
    EXPECT_EQ(pthread_mutex_unlock(&early), EPERM);
    const pid_t now = gettid();
    EXPECT_EQ(pthread_mutex_lock(&late), 0);
    nopal::mapped::become_process(); // at each further fork
    EXPECT_EQ(gettid(), now);
    EXPECT_EQ(pthread_mutex_unlock(&late), 0);
  }}.join();
}

} // namespace
