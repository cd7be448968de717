// SPDX-License-Identifier: MIT
// fib: the recursive Fibonacci number, a fork per call and no cut-off; 42 in the papers.
//
// Almost no work between forks, so its time is the runtime's own. `quick` is a third of a second
// on one core rather than a second, because the slowest runtimes take a hundred times that; `--n`
// is another number in its place.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/harness.h"

namespace bench {

BENCH_TASK long fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, x, fib, n - 1);
  const long y = fib(n - 2);
  BENCH_JOIN(s);
  return x + y;
}

class fib_problem {
public:
  static constexpr const char* name = "fib";

  explicit fib_problem(size chosen)
      : n_(chosen == size::test    ? 24
           : chosen == size::quick ? 40
                                   : 42) {}
  fib_problem(size, long n) : n_(n) {
    if (n > n_max) {
      throw std::invalid_argument("fib has no result for " + std::to_string(n) +
                                  "; accepted are --n 1 to " + std::to_string(n_max));
    }
  }

  long n() const { return n_; }

  // The call tree is binary with fib(n + 1) leaves, and each inner node forks once.
  std::uint64_t forks() const { return static_cast<std::uint64_t>(by_addition(n_ + 1)) - 1; }

  void prepare() {}
  void compute() { result_ = fib(n_); }
  bool verify() const { return result_ == by_addition(n_); }

protected:
  // The largest whose forks a long can count.
  static constexpr long n_max = 90;

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
  long result_ = -1;
};

} // namespace bench
