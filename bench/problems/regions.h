// SPDX-License-Identifier: MIT
// regions: 64 pieces of unequal work, each parallel in itself; with --n 2 each in an affine region,
// whose thread runs no other work until it ends. Made for this; not one of the papers' problems,
// and for Nopal alone.
#pragma once

#include <nopal/affine.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "bench/harness.h"
#include "bench/problems/fib.h"

namespace bench {

class regions_problem {
public:
  static constexpr const char* name = "regions";

  static constexpr long free = 1;
  static constexpr long affine = 2;

  explicit regions_problem(size chosen) : regions_problem(chosen, free) {}
  regions_problem(size chosen, long n)
      : affine_(n == affine), least_(chosen == size::test    ? 8
                                     : chosen == size::quick ? 20
                                                             : 23) {
    if (n != free && n != affine)
      throw std::invalid_argument("--n of regions is 1 (free) or 2 (affine)");
  }

  long n() const { return affine_ ? affine : free; }
  // fib(n) makes F(n + 1) - 1 of them.
  std::uint64_t forks() const {
    std::uint64_t all = pieces;
    for (int i = 0; i < pieces; ++i)
      all += static_cast<std::uint64_t>(fibonacci(size_of(i) + 1)) - 1;
    return all;
  }

  void prepare() { results_.fill(-1); }
  void compute() {
    BENCH_SCOPE(s);
    for (int i = 0; i < pieces; ++i)
      BENCH_FORK_VOID(s, compute_piece, this, i);
    BENCH_JOIN(s);
  }
  bool verify() const {
    for (int i = 0; i < pieces; ++i)
      if (results_[static_cast<std::size_t>(i)] != fibonacci(size_of(i)))
        return false;
    return true;
  }

private:
  static constexpr int pieces = 64;

  static void compute_piece(regions_problem* self, int piece) {
    const int n = self->size_of(piece);
    self->results_[static_cast<std::size_t>(piece)] =
        self->affine_ ? nopal::affine([n] { return fib(n); }) : fib(n);
  }

  static long fibonacci(int n) {
    long current = 0;
    for (long next = 1; n > 0; --n)
      next = std::exchange(current, next) + next;
    return current;
  }

  // Eight sizes; each next takes 1.6 times as long.
  int size_of(int piece) const { return least_ + piece % 8; }

  bool affine_;
  int least_;
  std::array<long, pieces> results_{};
};

} // namespace bench
