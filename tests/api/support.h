// SPDX-License-Identifier: MIT
// What the tests of the interface share, above all steals that are certain.
#pragma once

#include "nopal/base/shared.h"
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "nopal/vproc/settings.h"
#include "tests/api/start.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

namespace nopal_test {

// Runs `compute` in a process of its own, made while this one has no pool yet, and returns the
// number it computed; nothing if the process did not end well.
template <class Compute> std::optional<std::uint64_t> apart(Compute compute) {
  std::optional<std::uint64_t> computed;
  int ends[2];
  if (pipe(ends) != 0)
    return computed;
  const pid_t child = fork();
  if (child == 0) {
    const auto result = static_cast<std::uint64_t>(compute());
    _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  std::uint64_t result = 0;
  const bool complete = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  if (complete && status == 0)
    computed = result;
  return computed;
}

// Valgrind leaves fewer addresses for stacks.
inline bool on_valgrind() {
#if __has_include(<valgrind/valgrind.h>)
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

// How often a test repeats something: less often where steals are forced, as each fork waits for a
// thief then.
inline int repetitions(int count, int count_forced) {
  return nopal::vproc::steals_forced() ? count_forced : count;
}

// A child that waits for a gate ends only after a thief has run the parent's continuation as far as
// the call of `open`.
class gate {
public:
  void open() noexcept { open_.store(true, std::memory_order_release); }
  void wait() const noexcept {
    while (!open_.load(std::memory_order_acquire))
      std::this_thread::yield();
  }

private:
  std::atomic<bool> open_{false};
};

// Whether workers are processes, which see stacks on views (nopal::mapped).
inline bool on_views() { return nopal::base::shared != nullptr; }

// Not pthread_self, whose result the compiler may keep across a fork.
[[gnu::noinline]] inline pid_t thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }
// That does not change where a thread becomes a process, at its first fork.
[[gnu::noinline]] inline pthread_t this_thread() {
  asm volatile(""); // for compilers the call has the same result each time
  return pthread_self();
}

// A function whose continuation is certain to be stolen.
inline void be_stolen() {
  gate stolen;
  nopal::scope s;
  s.fork([&stolen] { stolen.wait(); });
  stolen.open();
  s.join();
}

inline long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

// A death test of a program with threads starts the program anew.
class death : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

} // namespace nopal_test
