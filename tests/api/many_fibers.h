// SPDX-License-Identifier: MIT
// Many fibers at once, and what memory they take.
#pragma once

#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/stack/small.h"
#include "tests/api/support.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace nopal_test {

// A sanitizer keeps more data about a stack than the stack holds, and ThreadSanitizer knows few
// stacks.
inline std::size_t most_fibers(std::size_t count) {
#if defined(NOPAL_TSAN)
  return std::min<std::size_t>(count, 1000);
#elif defined(__SANITIZE_ADDRESS__)
  return std::min<std::size_t>(count, 20000);
#else
  return count;
#endif
}

// Bytes of memory that this process has now, page tables included.
inline std::size_t memory_now() {
  std::size_t kib = 0;
  if (std::FILE* const status = std::fopen("/proc/self/status", "re")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) {
      std::size_t number = 0;
      if (std::sscanf(line, "VmRSS: %zu kB", &number) == 1 ||
          std::sscanf(line, "VmPTE: %zu kB", &number) == 1)
        kib += number;
    }
    std::fclose(status);
  }
  return kib << 10;
}

struct crowd {
  std::size_t finished = 0;
  std::size_t bytes_each = 0;
};

// All begin, and wait, before any goes on.
inline crowd run_crowd(std::size_t count) {
  nopal::channel<int> begun;
  nopal::channel<int> go_on;
  nopal::channel<int> finished;
  crowd seen;
  nopal::run([&] {
    const std::size_t before = memory_now();
    for (std::size_t i = 0; i < count; ++i)
      nopal::spawn([&] {
        begun.send(1);
        go_on.recv();
        finished.send(1);
      });
    for (std::size_t i = 0; i < count; ++i)
      begun.recv();
    seen.bytes_each = (memory_now() - before) / count;
    for (std::size_t i = 0; i < count; ++i)
      go_on.send(1);
    for (std::size_t i = 0; i < count; ++i)
      seen.finished += static_cast<std::size_t>(finished.recv());
  });
  return seen;
}

} // namespace nopal_test
