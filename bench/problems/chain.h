// SPDX-License-Identifier: MIT
// chain: a chain of forks as long as `--n` says, each from a function like fib's. The memory of a
// long chain over that of a short one is what a level takes of the stack.
#pragma once

#include <cstdint>

#include "bench/harness.h"

namespace bench {

BENCH_TASK long chain(long n) {
  if (n < 2)
    return n;
  long x = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, x, chain, n - 1);
  const long y = chain(1);
  BENCH_JOIN(s);
  return x + y;
}

class chain_problem {
public:
  static constexpr const char* name = "chain";

  explicit chain_problem(size chosen) : n_(chosen == size::test ? 10 : 2000) {}
  chain_problem(size, long n) : n_(n) {}

  long n() const { return n_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(n_) - 1; }
  void prepare() {}
  void compute() { result_ = chain(n_); }
  bool verify() const { return result_ == n_; }

private:
  long n_;
  long result_ = -1;
};

} // namespace bench
