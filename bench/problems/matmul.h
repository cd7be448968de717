// SPDX-License-Identifier: MIT
// matmul: C += A B on n x n floats by quadrants; n = 2048 in the papers.
//
// Each quadrant of C is one strand (three forks and a call) that adds two products one after the
// other; a product of 2 x 2 matrices is the base case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/freivalds.h"
#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

inline void multiply_2x2(const float* a, const float* b, float* c, std::ptrdiff_t stride) {
  const float b00 = b[0];
  const float b01 = b[1];
  const float b10 = b[stride];
  const float b11 = b[stride + 1];
  c[0] += a[0] * b00 + a[1] * b10;
  c[1] += a[0] * b01 + a[1] * b11;
  c[stride] += a[stride] * b00 + a[stride + 1] * b10;
  c[stride + 1] += a[stride] * b01 + a[stride + 1] * b11;
}

BENCH_TASK void matmul(const float* a, const float* b, float* c, std::ptrdiff_t n,
                       std::ptrdiff_t stride);

// One quadrant of C: `a` begins a block row and `b` a block column of two n x n blocks each.
BENCH_TASK void quadrant(const float* a, const float* b, float* c, std::ptrdiff_t n,
                         std::ptrdiff_t stride) {
  matmul(a, b, c, n, stride);
  matmul(a + n, b + n * stride, c, n, stride);
}

BENCH_TASK void matmul(const float* a, const float* b, float* c, std::ptrdiff_t n,
                       std::ptrdiff_t stride) {
  if (n == 2) {
    multiply_2x2(a, b, c, stride);
    return;
  }
  const std::ptrdiff_t half = n / 2;
  const std::ptrdiff_t below = half * stride;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, quadrant, a, b, c, half, stride);
  BENCH_FORK_VOID(s, quadrant, a, b + half, c + half, half, stride);
  BENCH_FORK_VOID(s, quadrant, a + below, b, c + below, half, stride);
  quadrant(a + below, b + half, c + below + half, half, stride);
  BENCH_JOIN(s);
}

class matmul_problem {
public:
  static constexpr const char* name = "matmul";

  explicit matmul_problem(size chosen)
      : n_(chosen == size::test    ? 64
           : chosen == size::quick ? 1024
                                   : 2048) {}

  long n() const { return static_cast<long>(n_); }

  // A product of size n splits into eight of size n / 2 with three forks, down to 2 x 2.
  std::uint64_t forks() const {
    std::uint64_t splits = 0;
    std::uint64_t products = 1;
    for (std::size_t n = n_; n > 2; n /= 2) {
      splits += products;
      products *= 8;
    }
    return 3 * splits;
  }

  // Entries from 0 to 7: every sum is an integer below 2^24, so floats hold it exactly.
  void prepare() {
    random_numbers random(2021);
    a_.resize(n_ * n_);
    b_.resize(n_ * n_);
    c_.assign(n_ * n_, 0.0F);
    for (float& x : a_)
      x = static_cast<float>(random.next() >> 61);
    for (float& x : b_)
      x = static_cast<float>(random.next() >> 61);
  }

  void compute() {
    const auto n = static_cast<std::ptrdiff_t>(n_);
    matmul(a_.data(), b_.data(), c_.data(), n, n);
  }

  bool verify() const {
    const auto entry_of = [n = n_](const std::vector<float>& matrix) {
      return [n, &matrix](std::size_t i, std::size_t j) { return matrix[i * n + j]; };
    };
    return is_product(n_, n_, n_, entry_of(a_), entry_of(b_), entry_of(c_));
  }

protected:
  std::size_t n_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> c_;
};

} // namespace bench
