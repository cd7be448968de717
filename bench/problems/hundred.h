// SPDX-License-Identifier: MIT
// hundred: a loop that forks a hundred short children and joins them, as often as `--n` says.
#pragma once

#include <cstdint>

#include "bench/harness.h"

namespace bench {

constexpr long kChildren = 100;

BENCH_TASK long short_child(long child, long time) { return child ^ time; }

BENCH_TASK long hundred(long times) {
  long right = 0;
  for (long time = 0; time < times; ++time) {
    long results[kChildren] = {};
    BENCH_SCOPE(s);
    for (long child = 0; child < kChildren; ++child)
      BENCH_FORK(s, results[child], short_child, child, time);
    BENCH_JOIN(s);
    for (long child = 0; child < kChildren; ++child)
      right += results[child] == (child ^ time);
  }
  return right;
}

// The outermost scope of a thread costs more than others, so all the loops run within one.
BENCH_TASK long hundreds(long times) {
  long right = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, right, hundred, times);
  BENCH_JOIN(s);
  return right;
}

class hundred_problem {
public:
  static constexpr const char* name = "hundred";

  explicit hundred_problem(size chosen)
      : n_(chosen == size::test    ? 100
           : chosen == size::quick ? 300'000
                                   : 1'000'000) {}
  hundred_problem(size, long n) : n_(n) {}

  long n() const { return n_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(kChildren * n_) + 1; }
  void prepare() {}
  void compute() { result_ = hundreds(n_); }
  bool verify() const { return result_ == kChildren * n_; }

private:
  long n_;
  long result_ = -1;
};

} // namespace bench
