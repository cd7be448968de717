// SPDX-License-Identifier: MIT
// A worker that was killed in its first instructions went unnoticed, and the program waited for it
// for ever. A debugger kills it here at each of its first system calls in turn.
#include "nopal/invoke.h"
#include "nopal/runtime.h"
#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

// A thread becomes a process when it forks: those of the pool, which main begins, and those that
// main and a worker begin.
[[noreturn]] void work_for_ever() {
  nopal::configure({.num_workers = 2});
  nopal::vproc::force_steals(1);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  std::raise(SIGSTOP);
  const auto begin_another = [] { std::thread{[] { nopal::invoke([] {}, [] {}); }}.join(); };
  for (;;)
    nopal::invoke(begin_another, begin_another);
}

bool is_process(pid_t task) {
  std::ifstream status{"/proc/" + std::to_string(task) + "/status"};
  for (std::string word; status >> word;)
    if (word == "Tgid:")
      return status >> word && word == std::to_string(task);
  return false;
}

class debugger {
public:
  debugger() : program_{fork()} {
    if (program_ == 0) {
      EXPECT_EQ(dup2(1, 2), 2);
      work_for_ever();
    }
    EXPECT_EQ(waitpid(program_, &status_, 0), program_);
    begun_ = WIFSTOPPED(status_) &&
             ptrace(PTRACE_SETOPTIONS, program_, nullptr,
                    PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL) == 0;
  }
  // All its tasks end with the program; who comes next would hear of them else.
  ~debugger() {
    for (pid_t task = 0; (task = waitpid(-1, &status_, __WALL)) > 0;)
      if (WIFSTOPPED(status_))
        go_on(task, 0);
  }
  debugger(const debugger&) = delete;
  debugger& operator=(const debugger&) = delete;
  bool begun() const { return begun_; }

  // Kills the process that begins so late, in its first instruction or where it makes or has made
  // one of its first system calls. Returns how the program ended.
  int kill_process(int others, int stops) {
    go_on(program_, 0);
    for (pid_t worker = 0;;) {
      const pid_t task = waitpid(-1, &status_, __WALL);
      if (task == program_ && !WIFSTOPPED(status_))
        return status_;
      if (task < 0 || !WIFSTOPPED(status_))
        continue;
      if (worker == 0 && task != program_ && seen_.insert(task).second && is_process(task) &&
          others-- == 0)
        worker = task;
      if (task == worker && stops-- == 0)
        kill(worker, SIGKILL);
      else if (task == worker)
        ptrace(PTRACE_SYSCALL, task, nullptr, signal_of(status_));
      else
        go_on(task, signal_of(status_));
    }
  }

private:
  static long signal_of(int status) {
    const int signal = WSTOPSIG(status);
    return signal == SIGTRAP || signal == SIGSTOP ? 0 : signal;
  }
  static void go_on(pid_t task, long signal) { ptrace(PTRACE_CONT, task, nullptr, signal); }

  const pid_t program_;
  std::set<pid_t> seen_;
  int status_ = 0;
  bool begun_ = false;
};

TEST(mapped_deaths, of_a_worker_in_its_first_instructions_ends_the_program) {
  for (int others = 0; others < 4; ++others)
    for (int stops = 0; stops < 10; ++stops) {
      debugger kills;
      if (!kills.begun())
        GTEST_SKIP() << "this system refuses debuggers";
      const int status = kills.kill_process(others, stops);
      ASSERT_TRUE(WIFSIGNALED(status)) << others << ' ' << stops;
      EXPECT_EQ(WTERMSIG(status), SIGKILL) << others << ' ' << stops;
    }
}

} // namespace
