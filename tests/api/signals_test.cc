// SPDX-License-Identifier: MIT
// Strands meet signals as code of the program's own threads does: the pool's threads have the mask
// that the program had at its first fork, and so has what a strand starts.
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/fiber.h"
#include "tests/api/support.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

namespace nopal_test {
namespace {

class signals : public death {};
// What a process is sent, and its clocks, are the first process's where workers are processes.
class signals_of_one_process : public signals {
protected:
  void SetUp() override {
    signals::SetUp();
    if (on_views())
      GTEST_SKIP() << "docs/limits.md, Processes in the place of threads";
  }
};

constexpr int kStrands = 64;

sigset_t set_of(std::initializer_list<int> which) {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : which)
    sigaddset(&set, each);
  return set;
}

// Each worker runs at least one of the strands, as the first of them wait for each other.
template <class Body> void on_all_workers(unsigned workers, Body body) {
  std::atomic<unsigned> arrived{0};
  nopal::scope s;
  for (int i = 0; i < kStrands; ++i)
    s.fork([&, i] {
      if (i < static_cast<int>(workers) - 1)
        for (arrived += 1; arrived.load() < workers;)
          std::this_thread::yield();
      body(i);
    });
  arrived += 1;
  s.join();
}

std::string output_of(FILE* from) {
  char line[64] = "";
  const bool any = std::fgets(line, sizeof line, from) != nullptr;
  return any ? line : "nothing";
}
constexpr char kShowMask[] = "exec grep SigBlk /proc/self/status";

std::string mask_of_program() {
  FILE* const pipe = popen(kShowMask, "r");
  const std::string mask = output_of(pipe);
  pclose(pipe);
  return mask;
}

std::string by_fork_and_exec() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    execl("/bin/sh", "sh", "-c", kShowMask, nullptr);
    _exit(1);
  }
  close(ends[1]);
  FILE* const from = fdopen(ends[0], "r");
  const std::string mask = output_of(from);
  std::fclose(from);
  waitpid(child, nullptr, 0);
  return mask;
}

std::string by_posix_spawn() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return "no pipe";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  char shell[] = "sh", option[] = "-c", command[] = "exec grep SigBlk /proc/self/status";
  char* const arguments[] = {shell, option, command, nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, "/bin/sh", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  FILE* const from = fdopen(ends[0], "r");
  const std::string mask = output_of(from);
  std::fclose(from);
  if (error == 0)
    waitpid(child, nullptr, 0);
  return mask;
}

template <class Start> long masks_that_differ(unsigned workers, Start started) {
  nopal::configure({.num_workers = workers});
  const std::string wanted = mask_of_program();
  std::atomic<long> other{0};
  on_all_workers(workers, [&](int) { other += started() == wanted ? 0 : 1; });
  return other.load();
}

TEST_F(signals, what_a_strand_starts_has_the_programs_mask) {
  for (const unsigned workers : {1u, 2u, 8u})
    for (std::string (*const start)() : {by_fork_and_exec, by_posix_spawn, mask_of_program})
      EXPECT_EQ(apart([=] {
                  const sigset_t some = set_of({SIGUSR2, SIGPIPE, SIGSEGV});
                  if (workers != 2)
                    pthread_sigmask(SIG_BLOCK, &some, nullptr);
                  return masks_that_differ(workers, start);
                }),
                0u)
          << workers << " workers";
}

// system() blocks SIGCHLD in its thread meanwhile, and asks for the child's status.
TEST_F(signals, a_command_that_a_strand_starts_can_be_terminated) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                std::atomic<long> terminated{0};
                on_all_workers(workers, [&](int) {
                  const int status = std::system("kill -TERM $$; exit 3");
                  terminated += WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 1 : 0;
                });
                return terminated.load();
              }),
              static_cast<std::uint64_t>(kStrands))
        << workers << " workers";
}

std::atomic<long> handled{0};
void count(int) { handled += 1; }

// Workers, spares and fibers raise the signal.
TEST_F(signals, that_a_strand_raises_are_handled) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                signal(SIGUSR1, count);
                on_all_workers(workers, [](int) { raise(SIGUSR1); });
                on_all_workers(workers, [](int) { nopal::blocking([] { raise(SIGUSR1); }); });
                nopal::run([] {
                  for (int i = 0; i < kStrands; ++i)
                    nopal::spawn([] { pthread_kill(pthread_self(), SIGUSR1); });
                });
                return handled.load();
              }),
              3u * kStrands)
        << workers << " workers";
}

TEST_F(signals, that_the_callback_of_a_deadline_raises_are_handled) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              signal(SIGUSR1, count);
              std::atomic<bool> called{false};
              nopal::cancel_scope s{std::chrono::milliseconds{1}};
              const std::stop_callback at_end{s.token(), [&] {
                                                raise(SIGUSR1);
                                                called = true;
                                              }};
              while (!called.load())
                std::this_thread::yield();
              return handled.load();
            }),
            1u);
}

// The pool's threads take what is sent to the process, if the program's other thread does not.
std::atomic<pid_t> main_thread{0};
std::atomic<long> in_pool{0};
void count_in_pool(int) {
  if (thread_id() != main_thread.load())
    in_pool += 1;
}

TEST_F(signals_of_one_process, of_a_profiling_timer_reach_the_pool) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 2});
              main_thread = thread_id();
              struct sigaction action{};
              action.sa_handler = count_in_pool;
              action.sa_flags = SA_RESTART;
              sigaction(SIGPROF, &action, nullptr);
              be_stolen(); // the pool has started, and may take the signal
              const sigset_t profiling = set_of({SIGPROF});
              pthread_sigmask(SIG_BLOCK, &profiling, nullptr);
              const itimerval each{{0, 1000}, {0, 1000}};
              setitimer(ITIMER_PROF, &each, nullptr);
              volatile unsigned computed = 0;
              while (in_pool.load() < 3) {
                nopal::scope s;
                gate stolen;
                s.fork([&] { stolen.wait(); });
                stolen.open();
                for (int i = 0; i < 100'000; ++i)
                  computed = computed + 1;
                s.join();
              }
              const itimerval off{};
              setitimer(ITIMER_PROF, &off, nullptr);
              return 1;
            }),
            1u);
}

// Profilers set a timer for each thread, on the CPU clock of the thread that a strand runs on.
TEST_F(signals_of_one_process, of_a_threads_own_timer_reach_it) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 3});
              main_thread = thread_id();
              signal(SIGPROF, count_in_pool);
              gate done;
              nopal::scope s;
              s.fork([&] { done.wait(); });
              const bool in_a_pool_thread = thread_id() != main_thread.load();
              if (in_a_pool_thread) {
                sigevent event{};
                event.sigev_notify = SIGEV_THREAD_ID;
                event.sigev_signo = SIGPROF;
                event._sigev_un._tid = thread_id();
                timer_t timer;
                const itimerspec each{{0, 1'000'000}, {0, 1'000'000}};
                if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
                  timer_settime(timer, 0, &each, nullptr);
                while (in_pool.load() < 3) {
                }
                timer_delete(timer);
              }
              done.open();
              s.join();
              return in_a_pool_thread;
            }),
            1u);
}

// All threads of the pool block the signals that one thread of the program waits for.
TEST_F(signals, that_were_blocked_before_the_first_fork_go_to_who_waits_for_them) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                const sigset_t waited = set_of({SIGTERM, SIGHUP});
                pthread_sigmask(SIG_BLOCK, &waited, nullptr);
                std::atomic<long> taken{0};
                std::thread waits{[&] {
                  for (int i = 0; i < 20; ++i) {
                    int which = 0;
                    sigwait(&waited, &which);
                    taken += 1;
                  }
                }};
                for (long i = 0; i < 20; ++i) {
                  kill(getpid(), i % 2 == 0 ? SIGTERM : SIGHUP);
                  while (taken.load() == i)
                    fib(5);
                }
                waits.join();
                return taken.load();
              }),
              20u)
        << workers << " workers";
}

void kill_by_sigterm_when_idle(unsigned workers, bool main_has_left) {
  nopal::configure({.num_workers = workers});
  fib(15);
  if (!main_has_left) {
    kill(getpid(), SIGTERM);
    for (;;)
      pause();
  }
  const sigset_t every = set_of({SIGTERM});
  pthread_sigmask(SIG_BLOCK, &every, nullptr); // only the pool can take it
  kill(getpid(), SIGTERM);
  for (;;)
    pause();
}

TEST_F(signals_of_one_process, sigterm_ends_the_program) {
  for (const unsigned workers : {1u, 2u, 8u})
    EXPECT_EXIT(kill_by_sigterm_when_idle(workers, false), testing::KilledBySignal(SIGTERM), "^$");
  EXPECT_EXIT(kill_by_sigterm_when_idle(2, true), testing::KilledBySignal(SIGTERM), "^$");
}

// Signals interrupt threads that sleep or look for work again and again, and no work is lost.
TEST_F(signals, that_interrupt_the_scheduler_change_nothing) {
  for (const unsigned workers : {2u, 8u})
    EXPECT_EQ(apart([workers] {
                nopal::configure({.num_workers = workers});
                signal(SIGUSR1, count);
                be_stolen();
                std::atomic<bool> stop{false};
                std::thread sender{[&stop] {
                  const sigset_t own = set_of({SIGUSR1});
                  pthread_sigmask(SIG_BLOCK, &own, nullptr);
                  while (!stop.load())
                    kill(getpid(), SIGUSR1);
                }};
                long right = 0;
                for (int i = 0; i < 50; ++i)
                  right += fib(14) == 377 ? 1 : 0;
                stop = true;
                sender.join();
                return right;
              }),
              50u)
        << workers << " workers";
}

} // namespace
} // namespace nopal_test
