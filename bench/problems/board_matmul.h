// SPDX-License-Identifier: MIT
// board_matmul: C += A B on 2048 x 2048 integers as the public board of runtimes has it
// (tzcnt/runtime-benchmarks). Three forks and a call for the quadrants, twice, since each is a sum
// of two products; a product of 32 x 32 is the base case. All entries are 1, and making the
// matrices is part of the time, both as there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"

namespace bench {

inline constexpr int board_base = 32;

// n is at most board_base, which only the caller has tested: nopal/leaf.h.
BENCH_BASE_CASE inline void add_small_product(const int* a, const int* b, int* c, int n,
                                              int stride) {
  n = std::min(n, board_base);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
}

BENCH_TASK void add_product(const int* a, const int* b, int* c, int n, int stride) {
  if (n <= board_base) {
    add_small_product(a, b, c, n, stride);
    return;
  }
  const int half = n / 2;
  const int below = half * stride;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, add_product, a, b, c, half, stride);
  BENCH_FORK_VOID(s, add_product, a, b + half, c + half, half, stride);
  BENCH_FORK_VOID(s, add_product, a + below, b, c + below, half, stride);
  add_product(a + below, b + half, c + below + half, half, stride);
  BENCH_JOIN(s);
  BENCH_FORK_VOID(s, add_product, a + half, b + below, c, half, stride);
  BENCH_FORK_VOID(s, add_product, a + half, b + below + half, c + half, half, stride);
  BENCH_FORK_VOID(s, add_product, a + below + half, b + below, c + below, half, stride);
  add_product(a + below + half, b + below + half, c + below + half, half, stride);
  BENCH_JOIN(s);
}

class board_matmul_problem {
public:
  static constexpr const char* name = "board_matmul";

  explicit board_matmul_problem(size chosen) : n_(chosen == size::test ? 128 : 2048) {}

  long n() const { return n_; }

  // A product of size n splits into eight of size n / 2 with six forks.
  std::uint64_t forks() const {
    std::uint64_t forks = 0;
    std::uint64_t products = 1;
    for (int n = n_; n > board_base; n /= 2) {
      forks += 6 * products;
      products *= 8;
    }
    return forks;
  }

  // A warm-up as there, after which the allocator has the memory.
  void prepare() {
    multiply();
    c_ = {};
  }
  void compute() { multiply(); }

  bool verify() const {
    return c_.size() == entries() &&
           std::all_of(c_.begin(), c_.end(), [this](int entry) { return entry == n_; });
  }

private:
  std::size_t entries() const {
    return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_);
  }

  void multiply() {
    const std::vector<int> a(entries(), 1);
    const std::vector<int> b(entries(), 1);
    std::vector<int> c(entries(), 0);
    add_product(a.data(), b.data(), c.data(), n_, n_);
    c_ = std::move(c);
  }

  int n_;
  std::vector<int> c_;
};

} // namespace bench
