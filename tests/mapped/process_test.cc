// SPDX-License-Identifier: MIT
// What belongs to a process belongs to the program: its number, children, signals, timers, exit.
#include "agents.h"

#include "nopal/base/limits.h"
#include "nopal/base/shared.h"
#include "nopal/mapped/members.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <semaphore>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace {

using nopal::mapped::raw;
using test::agent;
using mapped_process = test::mapped;

std::atomic<int> handled{0};
void note(int) { ++handled; }
void wait_for(const std::atomic<int>& counter, int value) {
  while (counter != value)
    sched_yield();
}

int spawn(const char* command) {
  pid_t child = -1;
  const char* const arguments[] = {"sh", "-c", command, nullptr};
  EXPECT_EQ(posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char**>(arguments), environ),
            0);
  return child;
}

TEST_F(mapped_process, all_have_one_number_and_one_parent) {
  int number = 0, parent = 0, group = 0;
  a.run([&] {
    number = getpid();
    parent = getppid();
    group = getpgrp();
  });
  b.run([&] { EXPECT_EQ(getpid(), number); });
  EXPECT_EQ(getpid(), number);
  EXPECT_EQ(raw(SYS_getpid), number);
  EXPECT_EQ(raw(SYS_getppid), parent);
  EXPECT_EQ(raw(SYS_getpgrp), group);
}

// How the processes are found, with something that happens behind the first that is read.
const nopal::base::sharing* found_by = nullptr;
void (*behind_the_first)() = nullptr;
std::size_t threads_while(void (*happens)()) {
  found_by = nopal::base::shared;
  behind_the_first = happens;
  nopal::base::sharing slow = *found_by;
  slow.for_each_process = [](void (*see)(int, std::size_t, void*), void* to) noexcept {
    struct passing {
      void (*see)(int, std::size_t, void*);
      void* to;
    } all{see, to};
    found_by->for_each_process(
        [](int pid, std::size_t ours, void* at) {
          static_cast<passing*>(at)->see(pid, ours, static_cast<passing*>(at)->to);
          if (auto* const happening = std::exchange(behind_the_first, nullptr))
            happening();
        },
        &all);
  };
  nopal::base::shared = &slow;
  const std::size_t counted = nopal::base::threads_now();
  nopal::base::shared = found_by;
  return counted;
}

std::binary_semaphore may_become{0}, may_end{0};

// A deadlock was reported where a spare that another one had begun became a process just then.
TEST_F(mapped_process, a_thread_that_becomes_one_is_counted) {
  a.run([] {});
  b.run([] {});
  constexpr std::size_t before = 3; // those of the test before may end only now
  while (nopal::base::threads_now() != before)
    sched_yield();
  std::thread* begun = nullptr;
  a.run([&] {
    begun = new std::thread{[] {
      may_become.acquire();
      nopal::mapped::become_process();
      may_end.acquire();
    }};
  });
  EXPECT_EQ(nopal::base::threads_now(), before + 1);
  const std::size_t counted = threads_while([] {
    const auto processes = [] {
      unsigned number = 0;
      nopal::mapped::for_each_member([&](const auto&) { ++number; });
      return number;
    };
    const unsigned others = processes();
    may_become.release();
    while (processes() == others)
      sched_yield();
    nopal::base::shared = found_by; // it counts twice until it has left the process where it began
    while (nopal::base::threads_now() != others + 1)
      sched_yield();
  });
  EXPECT_GE(counted, before + 1); // one that is counted twice is a deadlock reported later
  may_end.release();
  a.run([&] {
    begun->join();
    delete begun;
  });
}

TEST_F(mapped_process, threads_of_one_that_has_just_ended_are_not_known) {
  found_by = nopal::base::shared;
  nopal::base::sharing ended = *found_by;
  ended.for_each_process = [](void (*see)(int, std::size_t, void*), void* to) noexcept {
    see(std::numeric_limits<int>::max(), 0, to);
    found_by->for_each_process(see, to);
  };
  nopal::base::shared = &ended;
  const std::size_t counted = nopal::base::threads_now();
  nopal::base::shared = found_by;
  EXPECT_EQ(counted, std::numeric_limits<std::size_t>::max());
}

TEST_F(mapped_process, a_child_that_one_begins_the_other_waits_for) {
  int child = 0;
  a.run([&] { child = spawn("exit 3"); });
  b.run([&] {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child) << std::strerror(errno);
    EXPECT_EQ(status, 3 << 8);
  });
  child = spawn("kill -9 $$");
  a.run([&] {
    siginfo_t info{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED), 0);
    EXPECT_EQ(info.si_code, CLD_KILLED);
    EXPECT_EQ(info.si_status, SIGKILL);
  });
  int status = 0;
  EXPECT_EQ(wait(&status), -1);
  EXPECT_EQ(errno, ECHILD);
  a.run([&] { EXPECT_EQ(wait(nullptr), -1); });
}

TEST_F(mapped_process, wait_finds_children_of_any_and_no_process_of_the_program) {
  int children[2];
  a.run([&] { children[0] = spawn("exit 1"); });
  children[1] = spawn("exit 2");
  int seen = 0;
  b.run([&] {
    for (int i = 0; i < 2; ++i) {
      int status = 0;
      const int child = wait(&status);
      ASSERT_TRUE(child == children[0] || child == children[1]);
      EXPECT_EQ(WEXITSTATUS(status), child == children[0] ? 1 : 2);
      ++seen;
    }
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  });
  EXPECT_EQ(seen, 2);
}

TEST_F(mapped_process, sigchld_comes_for_children_and_not_for_processes) {
  handled = 0;
  std::signal(SIGCHLD, note);
  {
    agent ends;
  }
  EXPECT_EQ(handled, 0);
  int child = 0;
  a.run([&] {
    child = spawn("exit 0");
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
  });
  wait_for(handled, 1);
  child = spawn("exit 0");
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  wait_for(handled, 2);
  std::signal(SIGCHLD, SIG_DFL);
}

TEST_F(mapped_process, system_and_popen_work) {
  a.run([] {
    EXPECT_EQ(WEXITSTATUS(std::system("exit 7")), 7);
    FILE* const out = popen("echo text", "r");
    char line[20] = "";
    EXPECT_NE(std::fgets(line, sizeof line, out), nullptr);
    EXPECT_STREQ(line, "text\n");
    EXPECT_EQ(pclose(out), 0);
  });
  EXPECT_EQ(WEXITSTATUS(std::system("exit 6")), 6);
}

TEST_F(mapped_process, a_fork_copies_all_memory) {
  static int variable = 1;
  const auto heap = std::make_unique<int>(1);
  int local = 1;
  const auto check = [&] {
    const pid_t child = fork();
    if (child == 0) {
      variable = local = *heap = 2;
      std::vector<int> more(100'000, 1);
      const bool right = getpid() == raw(SYS_getpid) && getppid() != getpid() &&
                         std::system("exit 0") == 0 && more[99'999] == 1;
      _exit(right ? 5 : 6);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 5);
    EXPECT_EQ(variable, 1);
    EXPECT_EQ(local, 1);
    EXPECT_EQ(*heap, 1);
  };
  a.run(check);
  check();
  b.run(check);
}

// The lists of what the program has are held while its memory is copied.
TEST_F(mapped_process, a_fork_forgets_children_of_others_and_files_that_were_unmapped) {
  pid_t first = 0;
  a.run([&first] {
    if ((first = fork()) == 0)
      for (;;)
        pause();
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    munmap(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0), 4096);
    close(file);
  });
  b.run([] {
    const pid_t second = fork();
    if (second == 0)
      _exit(wait(nullptr) == -1 && errno == ECHILD ? 4 : 3);
    int status = 0;
    EXPECT_EQ(waitpid(second, &status, 0), second);
    EXPECT_EQ(WEXITSTATUS(status), 4);
  });
  kill(first, SIGKILL);
  EXPECT_EQ(waitpid(first, nullptr, 0), first);
}

TEST_F(mapped_process, a_forked_program_has_threads_and_processes_of_its_own) {
  a.run([] {
    const pid_t child = fork();
    if (child == 0) {
      int sum = 0;
      {
        agent own, other;
        own.run([&] { sum += 1; });
        other.run([&] { sum += raw(SYS_getpid) != getpid() ? 2 : 0; });
      }
      _exit(sum);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 3);
  });
}

TEST_F(mapped_process, memory_that_is_shared_with_children_is) {
  int* word = nullptr;
  a.run([&] {
    word = static_cast<int*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  });
  b.run([&] {
    const pid_t child = fork();
    if (child == 0) {
      *word = 9;
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  });
  EXPECT_EQ(*word, 9);
  munmap(word, 4096);
}

TEST_F(mapped_process, a_thread_is_cancelled_wherever_it_is) {
  pthread_t waits;
  a.run([&] {
    pthread_create(
        &waits, nullptr, [](void*) -> void* { return reinterpret_cast<void*>(long{pause()}); },
        nullptr);
  });
  void* result = nullptr;
  b.run([&] {
    pthread_cancel(waits);
    pthread_join(waits, &result);
  });
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST_F(mapped_process, timers_are_the_programs) {
  handled = 0;
  std::signal(SIGALRM, note);
  a.run([] {
    const itimerval soon{{0, 0}, {0, 1000}};
    EXPECT_EQ(setitimer(ITIMER_REAL, &soon, nullptr), 0);
  });
  wait_for(handled, 1);
  b.run([] {
    const itimerval late{{0, 0}, {100, 0}};
    setitimer(ITIMER_REAL, &late, nullptr);
  });
  a.run([] {
    itimerval left{}, none{};
    EXPECT_EQ(setitimer(ITIMER_REAL, &none, &left), 0);
    EXPECT_GT(left.it_value.tv_sec, 0);
  });
  timer_t timer{};
  a.run([&] {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  });
  b.run([&] {
    const itimerspec soon{{0, 0}, {0, 1'000'000}};
    EXPECT_EQ(timer_settime(timer, 0, &soon, nullptr), 0);
  });
  wait_for(handled, 2);
  a.run([&] { timer_delete(timer); });
  std::signal(SIGALRM, SIG_DFL);
}

TEST_F(mapped_process, limits_hold_for_all) {
  rlimit before{};
  getrlimit(RLIMIT_CORE, &before);
  rlimit lower{0, before.rlim_max};
  a.run([&] { EXPECT_EQ(setrlimit(RLIMIT_CORE, &lower), 0); });
  b.run([&] {
    rlimit now{};
    getrlimit(RLIMIT_CORE, &now);
    EXPECT_EQ(now.rlim_cur, 0u);
  });
  EXPECT_EQ(setrlimit(RLIMIT_CORE, &before), 0);
}

TEST_F(mapped_process, record_locks_are_the_programs) {
  const int file = open(".", O_TMPFILE | O_RDWR, 0600);
  struct flock whole{};
  whole.l_type = F_WRLCK;
  a.run([&] { EXPECT_EQ(fcntl(file, F_SETLK, &whole), 0); });
  b.run([&] { EXPECT_EQ(fcntl(file, F_SETLK, &whole), 0); });
  close(file);
}

} // namespace
