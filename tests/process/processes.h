// SPDX-License-Identifier: MIT
// Runs a computation on so many processes, all of them apart from the test's own.
#pragma once

#include "nopal/process.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace nopal_test {

namespace process = nopal::process;

struct ended {
  int status = -1;  // of process 0: what it exited with, or 128 and the number of a signal
  std::string said; // on standard output and standard error, by all processes
};

// Calls f() in a process apart.
template <class F> ended apart(F f) {
  int ends[2];
  if (pipe(ends) != 0)
    return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    f();
    std::fflush(nullptr);
    _exit(0);
  }
  close(ends[1]);
  ended result;
  char buffer[4096];
  ssize_t got;
  while ((got = read(ends[0], buffer, sizeof buffer)) > 0) // until all processes have ended
    result.said.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

// Runs f(args...) by a session of such options, and prints the result, once.
template <class F, class... Args>
ended computed_by(const process::options& wanted, F f, Args... args) {
  return apart([&] {
    process::session here{0, nullptr, wanted};
    const auto result = here.run(f, args...);
    if (here.rank() == 0)
      std::printf("%s", std::to_string(result).c_str());
    std::fflush(stdout);
  });
}

} // namespace nopal_test
