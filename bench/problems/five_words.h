// SPDX-License-Identifier: MIT
// five_words: fib's tree, whose forks take five words along: four arguments and where the result
// goes.
#pragma once

#include "bench/problems/fib.h"

namespace bench {

BENCH_TASK long five_words(long n, long a, long b, long c) {
  if (n < 2)
    return n + a + b + c;
  long x = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, x, five_words, n - 1, b, c, a);
  const long y = five_words(n - 2, c, a, b);
  BENCH_JOIN(s);
  return x + y;
}

// `--n` as for fib.
class five_words_problem : public fib_problem {
public:
  static constexpr const char* name = "five_words";

  explicit five_words_problem(size chosen) : fib_problem(chosen) {
    if (chosen == size::quick)
      n_ = 37;
  }
  five_words_problem(size chosen, long n) : fib_problem(chosen, n) {}

  void compute() { result_ = five_words(n_, n_, -2 * n_, n_); }
};

} // namespace bench
