// SPDX-License-Identifier: MIT
// The program did not hear of SIGCHLD when a child of a strand ended: the kernel tells the first
// process otherwise, and let only one of its threads pass that on.
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "nopal/sleep.h"
#include "tests/api/support.h"
#include "tests/strangers/elsewhere.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace nopal_test {
namespace {

const start this_program{3};

std::atomic<int> heard{0}, heard_of{0}, code{0}, status_heard{0};
void hear(int, siginfo_t* info, void*) {
  heard_of = info->si_pid;
  code = info->si_code;
  status_heard = info->si_status;
  ++heard;
}

class mapped_children : public testing::Test {
protected:
  mapped_children() { act(hear); }
  ~mapped_children() { std::signal(SIGCHLD, SIG_DFL); }
  void act(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
    heard = 0;
    struct sigaction wanted{};
    wanted.sa_sigaction = handler;
    wanted.sa_flags = SA_SIGINFO | SA_RESTART | flags;
    sigaction(SIGCHLD, &wanted, nullptr);
  }
};

pid_t child_that_exits(int with) {
  const pid_t child = fork();
  if (child == 0)
    _exit(with);
  return child;
}

void wait_for(const std::atomic<int>& value, int wanted) {
  while (value != wanted)
    std::this_thread::yield();
}

TEST_F(mapped_children, of_strands_are_told_of_as_mains_are) {
  for (int round = 1; round <= 5; ++round) {
    elsewhere([&] {
      const pid_t child = child_that_exits(round);
      wait_for(heard_of, child);
      EXPECT_EQ(code, CLD_EXITED);
      EXPECT_EQ(status_heard, round);
      int status = 0;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(WEXITSTATUS(status), round);
    });
    EXPECT_EQ(heard, 2 * round - 1); // once
    const pid_t child = child_that_exits(0);
    wait_for(heard_of, child);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
  }
}

TEST_F(mapped_children, that_are_killed_or_executed_are_told_of) {
  elsewhere([] {
    const pid_t child = fork();
    if (child == 0)
      for (;;)
        pause();
    kill(child, SIGTERM);
    wait_for(heard_of, child);
    EXPECT_EQ(code, CLD_KILLED);
    EXPECT_EQ(status_heard, SIGTERM);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    pid_t program = 0;
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    EXPECT_EQ(posix_spawnp(&program, name, nullptr, nullptr, arguments, environ), 0);
    wait_for(heard_of, program);
    EXPECT_EQ(waitpid(program, nullptr, 0), program);
    EXPECT_EQ(WEXITSTATUS(std::system("exit 7")), 7);
  });
}

TEST_F(mapped_children, that_nobody_wants_are_not_kept) {
  const auto leaves_nothing = [] {
    elsewhere([] {
      const pid_t child = child_that_exits(0);
      EXPECT_EQ(waitpid(child, nullptr, 0), -1);
      EXPECT_EQ(errno, ECHILD);
      EXPECT_EQ(wait(nullptr), -1);
      EXPECT_EQ(errno, ECHILD);
    });
  };
  act(hear, SA_NOCLDWAIT);
  leaves_nothing();
  std::signal(SIGCHLD, SIG_IGN);
  leaves_nothing();
}

TEST_F(mapped_children, are_told_of_to_a_thread_that_waits_for_the_signal) {
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  std::atomic<int> told_of{0};
  std::thread waits{[&] {
    siginfo_t info{};
    EXPECT_EQ(sigwaitinfo(&ends, &info), SIGCHLD);
    told_of = info.si_pid;
  }};
  pid_t child = 0;
  elsewhere([&] {
    child = child_that_exits(0);
    wait_for(told_of, child);
  });
  waits.join();
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A worker is a child of the first process, for the kernel.
TEST_F(mapped_children, are_no_workers) {
  std::atomic<int> worker{0};
  std::atomic<bool> goes_on{false};
  nopal::scope s;
  s.fork([&] {
    while (worker == 0)
      std::this_thread::yield();
    if (!on_views() || worker == getpid())
      return;
    const std::string file = "/proc/" + std::to_string(worker) + "/stat";
    for (std::string number, name, state; state != "T";)
      std::ifstream{file} >> number >> name >> state;
    kill(worker, SIGCONT);
    while (!goes_on)
      std::this_thread::yield();
  });
  worker = gettid();
  if (on_views() && worker != getpid())
    kill(worker, SIGSTOP);
  goes_on = true;
  s.join();
  EXPECT_EQ(heard, 0);
}

using mapped_children_death = death;
TEST_F(mapped_children_death, that_sleep_are_told_that_nothing_watches_times) {
  EXPECT_EXIT(elsewhere([] {
                nopal::sleep_for(std::chrono::milliseconds(1)); // the parent has such a thread
                const pid_t child = fork();
                if (child == 0) {
                  nopal::sleep_for(std::chrono::milliseconds(1));
                  _exit(0);
                }
                int status = 0;
                waitpid(child, &status, 0);
                _exit(WEXITSTATUS(status));
              }),
              testing::ExitedWithCode(70), "no thread that watches times");
}

} // namespace
} // namespace nopal_test
