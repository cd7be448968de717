// SPDX-License-Identifier: MIT
// fibx: fibx(n) = fibx(n - 1) + fibx(n - 40), a fork for the first term and no cut-off; n = 280 in
// Cilk-M's paper (cilk-m-pact10, Figure 7): deep stacks with almost no work between forks.
//
// The paper gives the input and the depth (D = 281, Figure 9: 280 nested calls below main), not the
// recurrence. This one, with fibx(n) = 1 for n < 2, nests 280 calls too and makes 1.6 times as many
// as its fib(42).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness.h"

namespace bench {

inline constexpr long fibx_lag = 40;

BENCH_TASK long fibx(long n) {
  if (n < 2)
    return 1;
  long x = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, x, fibx, n - 1);
  const long y = fibx(n - fibx_lag);
  BENCH_JOIN(s);
  return x + y;
}

class fibx_problem {
public:
  static constexpr const char* name = "fibx";

  explicit fibx_problem(size chosen)
      : n_(chosen == size::test    ? 120
           : chosen == size::quick ? 260
                                   : 280) {}

  long n() const { return n_; }

  // The call tree is binary, each of its leaves adds one, and each inner node forks once.
  std::uint64_t forks() const { return static_cast<std::uint64_t>(by_addition(n_)) - 1; }

  void prepare() {}
  void compute() { result_ = fibx(n_); }
  bool verify() const { return result_ == by_addition(n_); }

protected:
  static long by_addition(long n) {
    std::vector<long> values(static_cast<std::size_t>(n + 1), 1);
    for (std::size_t i = 2; i < values.size(); ++i)
      values[i] = values[i - 1] + (i < fibx_lag ? 1 : values[i - fibx_lag]);
    return values.back();
  }

  long n_;
  long result_ = -1;
};

} // namespace bench
