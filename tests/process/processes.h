// SPDX-License-Identifier: MIT
// Runs a computation on so many processes, all of them apart from the test's own.
#pragma once

#include "nopal/process.h"
#include "tests/patience.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace nopal_test {

namespace process = nopal::process;

struct ended {
  int status = -1;         // of process 0: what it exited with, or 128 and the number of a signal
  std::string said;        // on standard output and standard error, by all processes
  std::vector<int> others; // the status of each process that process 0 has not waited for
};

inline int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// All that is written to the pipe until each process has closed it. Where that takes longer than
// `patience` the computation has hung: it is killed, and says so.
inline std::string all_from(int pipe, pid_t group) {
  std::string said;
  const auto end = std::chrono::steady_clock::now() + patience;
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd output{pipe, POLLIN, 0};
    if (left.count() <= 0 || poll(&output, 1, static_cast<int>(left.count())) == 0) {
      kill(-group, SIGKILL);
      return said + "(hung)";
    }
    const ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got == 0)
      return said;
    if (got > 0)
      said.append(buffer, static_cast<std::size_t>(got));
  }
}

// Calls f() in a process apart.
template <class F> ended apart(F f) {
  int ends[2];
  if (pipe(ends) != 0)
    return {};
  prctl(PR_SET_CHILD_SUBREAPER, 1); // those that process 0 leaves behind come to the test
  std::fflush(nullptr);             // or the child would write it too
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    f();
    std::fflush(nullptr);
    _exit(0);
  }
  setpgid(child, child);
  close(ends[1]);
  ended result;
  result.said = all_from(ends[0], child);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = code_of(status);
  while (waitpid(-1, &status, 0) > 0)
    result.others.push_back(code_of(status));
  return result;
}

// A T that all processes share which are forked while this lives. Programs have no such thing; by
// it tests learn what has happened in other processes.
template <class T> class shared {
public:
  shared()
      : at_{std::construct_at(static_cast<T*>(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0)))} {}
  ~shared() { munmap(at_, sizeof(T)); }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;

  T* operator->() const noexcept { return at_; }
  T* get() const noexcept { return at_; }

private:
  T* at_;
};

// A task that ends when another process has taken the rest of its caller. `before` is what this
// process's queue had lost before the spawn.
inline void until_stolen(std::uint32_t before) {
  for (unsigned tries = 1; process::this_worker.queue.stolen() == before; ++tries)
    nopal::base::wait_briefly(tries);
}

// What the caller has on its stack, and the caller, go on in another process.
inline void move_on() {
  process::task<void> child = process::spawn(until_stolen, process::this_worker.queue.stolen());
  process::join(child);
}

inline long fib(int n) {
  if (n < 2)
    return n;
  process::task<long> x = process::spawn(fib, n - 1);
  const long y = fib(n - 2);
  return process::join(x) + y;
}

// Runs f(args...) by a session of such options, and prints the result, once.
template <class F, class... Args>
ended computed_by(const process::options& wanted, F f, Args... args) {
  return apart([&] {
    process::session session{0, nullptr, wanted};
    const auto result = session.run(f, args...);
    if (session.rank() == 0)
      std::printf("%s", std::to_string(result).c_str());
    std::fflush(stdout);
  });
}

} // namespace nopal_test
