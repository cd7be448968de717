// SPDX-License-Identifier: MIT
// lu: A = L U without pivoting, an n x n matrix of doubles; n = 4096 in the papers (fibril-spaa16
// Table 1, nowa-ipdps21 Table I, cilk-m-pact10 Figure 7).
//
// By quadrants: factor the first, solve for the two beside it (a fork and a call), subtract their
// product from the last and factor that. A solution forks for half of its columns or rows; a
// product forks three of its quadrants, joins, and does so again for the second half of the sum.
// The matrix lies in blocks of 16 x 16 (lu_tiny.h: 2 x 2), each contiguous, row by row of blocks; a
// block is the base case.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

#if !defined(BENCH_LU_SIDE)
#define BENCH_LU_SIDE 16
#endif
inline constexpr std::ptrdiff_t lu_side = BENCH_LU_SIDE;
inline constexpr std::ptrdiff_t lu_block = lu_side * lu_side;

// c -= l u
BENCH_BASE_CASE inline void subtract_product_block(double* c, const double* l, const double* u) {
  for (std::ptrdiff_t i = 0; i < lu_side; ++i) {
    double row[lu_side];
    for (std::ptrdiff_t j = 0; j < lu_side; ++j)
      row[j] = c[i * lu_side + j];
    for (std::ptrdiff_t k = 0; k < lu_side; ++k) {
      const double factor = l[i * lu_side + k];
      for (std::ptrdiff_t j = 0; j < lu_side; ++j)
        row[j] -= factor * u[k * lu_side + j];
    }
    for (std::ptrdiff_t j = 0; j < lu_side; ++j)
      c[i * lu_side + j] = row[j];
  }
}

// b = l^-1 b, where l has ones on its diagonal
BENCH_BASE_CASE inline void solve_lower_block(double* b, const double* l) {
  for (std::ptrdiff_t i = 1; i < lu_side; ++i) {
    for (std::ptrdiff_t k = 0; k < i; ++k) {
      const double factor = l[i * lu_side + k];
      for (std::ptrdiff_t j = 0; j < lu_side; ++j)
        b[i * lu_side + j] -= factor * b[k * lu_side + j];
    }
  }
}

// b = b u^-1
BENCH_BASE_CASE inline void solve_upper_block(double* b, const double* u) {
  for (std::ptrdiff_t i = 0; i < lu_side; ++i) {
    double* row = b + i * lu_side;
    for (std::ptrdiff_t k = 0; k < lu_side; ++k) {
      row[k] /= u[k * lu_side + k];
      for (std::ptrdiff_t j = k + 1; j < lu_side; ++j)
        row[j] -= row[k] * u[k * lu_side + j];
    }
  }
}

BENCH_BASE_CASE inline void factor_block(double* a) {
  for (std::ptrdiff_t k = 0; k < lu_side; ++k) {
    for (std::ptrdiff_t i = k + 1; i < lu_side; ++i) {
      a[i * lu_side + k] /= a[k * lu_side + k];
      for (std::ptrdiff_t j = k + 1; j < lu_side; ++j)
        a[i * lu_side + j] -= a[i * lu_side + k] * a[k * lu_side + j];
    }
  }
}

// Below, `blocks` is the side of a square part in blocks, `stride` that of the whole matrix.

// c -= l u
BENCH_TASK void subtract_product(double* c, const double* l, const double* u, std::ptrdiff_t blocks,
                                 std::ptrdiff_t stride) {
  if (blocks == 1) {
    subtract_product_block(c, l, u);
    return;
  }
  const std::ptrdiff_t half = blocks / 2;
  const std::ptrdiff_t right = half * lu_block;
  const std::ptrdiff_t below = right * stride;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, subtract_product, c, l, u, half, stride);
  BENCH_FORK_VOID(s, subtract_product, c + right, l, u + right, half, stride);
  BENCH_FORK_VOID(s, subtract_product, c + below, l + below, u, half, stride);
  subtract_product(c + below + right, l + below, u + right, half, stride);
  BENCH_JOIN(s);
  const double* const l_right = l + right;
  const double* const u_below = u + below;
  BENCH_FORK_VOID(s, subtract_product, c, l_right, u_below, half, stride);
  BENCH_FORK_VOID(s, subtract_product, c + right, l_right, u_below + right, half, stride);
  BENCH_FORK_VOID(s, subtract_product, c + below, l_right + below, u_below, half, stride);
  subtract_product(c + below + right, l_right + below, u_below + right, half, stride);
  BENCH_JOIN(s);
}

BENCH_TASK void solve_lower(double* b, const double* l, std::ptrdiff_t blocks,
                            std::ptrdiff_t stride);

// Half of the columns of b; `half` is the number of its block columns.
BENCH_TASK void solve_lower_columns(double* b, const double* l, std::ptrdiff_t half,
                                    std::ptrdiff_t stride) {
  const std::ptrdiff_t right = half * lu_block;
  const std::ptrdiff_t below = right * stride;
  solve_lower(b, l, half, stride);
  subtract_product(b + below, l + below, b, half, stride);
  solve_lower(b + below, l + below + right, half, stride);
}

// b = l^-1 b
BENCH_TASK void solve_lower(double* b, const double* l, std::ptrdiff_t blocks,
                            std::ptrdiff_t stride) {
  if (blocks == 1) {
    solve_lower_block(b, l);
    return;
  }
  const std::ptrdiff_t half = blocks / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, solve_lower_columns, b, l, half, stride);
  solve_lower_columns(b + half * lu_block, l, half, stride);
  BENCH_JOIN(s);
}

BENCH_TASK void solve_upper(double* b, const double* u, std::ptrdiff_t blocks,
                            std::ptrdiff_t stride);

// Half of the rows of b; `half` is the number of its block rows.
BENCH_TASK void solve_upper_rows(double* b, const double* u, std::ptrdiff_t half,
                                 std::ptrdiff_t stride) {
  const std::ptrdiff_t right = half * lu_block;
  const std::ptrdiff_t below = right * stride;
  solve_upper(b, u, half, stride);
  subtract_product(b + right, b, u + right, half, stride);
  solve_upper(b + right, u + below + right, half, stride);
}

// b = b u^-1
BENCH_TASK void solve_upper(double* b, const double* u, std::ptrdiff_t blocks,
                            std::ptrdiff_t stride) {
  if (blocks == 1) {
    solve_upper_block(b, u);
    return;
  }
  const std::ptrdiff_t half = blocks / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, solve_upper_rows, b, u, half, stride);
  solve_upper_rows(b + half * lu_block * stride, u, half, stride);
  BENCH_JOIN(s);
}

BENCH_TASK void lu(double* a, std::ptrdiff_t blocks, std::ptrdiff_t stride) {
  if (blocks == 1) {
    factor_block(a);
    return;
  }
  const std::ptrdiff_t half = blocks / 2;
  double* const right = a + half * lu_block;
  double* const below = a + half * lu_block * stride;
  double* const last = below + half * lu_block;
  lu(a, half, stride);
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, solve_lower, right, a, half, stride);
  solve_upper(below, a, half, stride);
  BENCH_JOIN(s);
  subtract_product(last, below, right, half, stride);
  lu(last, half, stride);
}

class lu_problem {
public:
  static constexpr const char* name = "lu";

  explicit lu_problem(size chosen)
      : lu_problem(std::ptrdiff_t{chosen == size::test    ? 128
                                  : chosen == size::quick ? 1024
                                                          : 4096}) {}

  long n() const { return n_; }

  // By the same halving: `product` is what one product of this size forks, and so on.
  std::uint64_t forks() const {
    std::uint64_t product = 0;
    std::uint64_t solution = 0;
    std::uint64_t factors = 0;
    for (std::ptrdiff_t side = lu_side; side < n_; side *= 2) {
      factors = 2 * factors + 2 * solution + product + 1;
      solution = 4 * solution + 2 * product + 1;
      product = 8 * product + 6;
    }
    return factors;
  }

  void prepare() {
    a_.resize(static_cast<std::size_t>(n_ * n_));
    for (std::ptrdiff_t i = 0; i < n_; ++i) {
      for (std::ptrdiff_t j = 0; j < n_; ++j)
        a_[index(i, j)] = entry(i, j);
    }
  }

  void compute() { lu(a_.data(), n_ / lu_side, n_ / lu_side); }

  // L (U x) = A x for a random x. The tolerance is relative to |A| |x|, of which rounding takes
  // 1.5e-14 at n = 4096, and a product of two blocks that is lost changes some row by 1e-7 or more.
  bool verify() const {
    random_numbers random(1977);
    std::vector<double> x(static_cast<std::size_t>(n_));
    for (double& value : x)
      value = in_unit(random.next());
    const std::vector<double> product = times_l(times_u(x));
    for (std::ptrdiff_t i = 0; i < n_; ++i) {
      double wanted = 0;
      double scale = 0;
      for (std::ptrdiff_t j = 0; j < n_; ++j) {
        const double term = entry(i, j) * x[static_cast<std::size_t>(j)];
        wanted += term;
        scale += std::abs(term);
      }
      if (!(std::abs(product[static_cast<std::size_t>(i)] - wanted) <= 1e-12 * scale))
        return false;
    }
    return true;
  }

protected:
  explicit lu_problem(std::ptrdiff_t n) : n_(n) {}

  std::size_t index(std::ptrdiff_t i, std::ptrdiff_t j) const {
    const std::ptrdiff_t block = i / lu_side * (n_ / lu_side) + j / lu_side;
    return static_cast<std::size_t>(block * lu_block + i % lu_side * lu_side + j % lu_side);
  }

  // From -1 to 1.
  static double in_unit(std::uint64_t bits) {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -63);
  }

  // Dominated by its diagonal, so that it needs no pivoting.
  double entry(std::ptrdiff_t i, std::ptrdiff_t j) const {
    const double value = in_unit(mixed(static_cast<std::uint64_t>(i * n_ + j)));
    return i == j ? value + static_cast<double>(n_) : value;
  }

  std::vector<double> times_u(const std::vector<double>& x) const {
    std::vector<double> y(x.size(), 0.0);
    for (std::ptrdiff_t i = 0; i < n_; ++i) {
      for (std::ptrdiff_t j = i; j < n_; ++j)
        y[static_cast<std::size_t>(i)] += a_[index(i, j)] * x[static_cast<std::size_t>(j)];
    }
    return y;
  }

  std::vector<double> times_l(const std::vector<double>& x) const {
    std::vector<double> y = x;
    for (std::ptrdiff_t i = 0; i < n_; ++i) {
      for (std::ptrdiff_t j = 0; j < i; ++j)
        y[static_cast<std::size_t>(i)] += a_[index(i, j)] * x[static_cast<std::size_t>(j)];
    }
    return y;
  }

  std::ptrdiff_t n_;
  std::vector<double> a_;
};

} // namespace bench
