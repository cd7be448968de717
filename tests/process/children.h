// SPDX-License-Identifier: MIT
// What tests of fork() ask: how a child has ended, and whether frames have kept their contents.
#pragma once

#include "tests/process/processes.h"

#include <array>
#include <cerrno>
#include <sys/wait.h>

namespace nopal_test {

inline int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return code_of(status);
}

// The frame of a task, which its child must not change, nor see changed.
struct contents {
  std::array<unsigned char, 4096> bytes;
  explicit contents(int value) noexcept {
    bytes.fill(static_cast<unsigned char>(value));
    asm volatile("" : : "r"(this) : "memory");
  }
  bool are(int value) const noexcept {
    asm volatile("" : : "r"(this) : "memory");
    for (const unsigned char each : bytes)
      if (each != static_cast<unsigned char>(value))
        return false;
    return true;
  }
};

[[gnu::noinline]] inline int deep(int depth) {
  contents own{depth};
  const int below = depth == 0 ? 0 : deep(depth - 1);
  return below + (own.are(depth) ? 1 : 1000);
}

} // namespace nopal_test
