// SPDX-License-Identifier: MIT
// task_fib: fib (fib.h), written with tasks; --n is the number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/harness.h"

namespace bench {

BENCH_TASK long task_fib(long n) {
  if (n < 2)
    return n;
  BENCH_SCOPE(s);
  BENCH_SPAWN(s, x, task_fib, n - 1);
  const long y = task_fib(n - 2);
  BENCH_JOIN_TASK(s, x);
  return x + y;
}

class task_fib_problem {
public:
  static constexpr const char* name = "task_fib";

  explicit task_fib_problem(size chosen)
      : n_{chosen == size::test    ? 20
           : chosen == size::quick ? 36
                                   : 42} {}
  task_fib_problem(size, long n) : n_{n} {
    if (n > 90)
      throw std::invalid_argument("task_fib has no result for " + std::to_string(n) +
                                  "; accepted are --n 1 to 90");
  }

  long n() const { return n_; }
  // The call tree is binary with fib(n + 1) leaves, and each inner node forks once.
  std::uint64_t forks() const { return static_cast<std::uint64_t>(by_addition(n_ + 1)) - 1; }
  std::size_t region_size() const { return std::size_t{256} << 10; }

  auto root() const {
    return [n = n_] { return task_fib(n); };
  }
  bool verify(long got) const { return got == by_addition(n_); }

private:
  static long by_addition(long n) {
    long current = 0;
    long next = 1;
    for (; n > 0; --n) {
      const long sum = current + next;
      current = next;
      next = sum;
    }
    return current;
  }

  long n_;
};

} // namespace bench
