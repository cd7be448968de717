// SPDX-License-Identifier: MIT
// cholesky: A = L L^T of a sparse symmetric positive definite matrix in a quadtree; of order 4000
// with 40000 nonzeros in its lower triangle in the papers (fibril-spaa16 Table 1, nowa-ipdps21
// Table I, cilk-m-pact10 Figure 7), or read from a Matrix Market file.
//
// Factor the first quadrant, solve for the one below it, subtract the product of that one and its
// transpose from the last, factor that; two diagonal quadrants with nothing between them are
// factored in parallel. Solutions and products fork for the quadrants that are there. The base case
// is a tile of 4 x 4. Empty quadrants have no tile until one fills in.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness.h"
#include "bench/matrix_market.h"
#include "bench/problems/cholesky_pattern.h"
#include "bench/problems/cholesky_tile.h"
#include "bench/random.h"

namespace bench {

// r -= a b^T, where r may be empty. Returns r, which stays empty if no leaf meets another.
BENCH_TASK tile* subtract(tile* r, const tile* a, const tile* b, int depth, tile_pool* pool) {
  if (depth == 0) {
    tile* const leaf = r != nullptr ? r : pool->take();
    subtract_leaf(leaf->entry, a->entry, b->entry);
    return leaf;
  }
  tile* r00 = r != nullptr ? r->quadrant[0] : nullptr;
  tile* r01 = r != nullptr ? r->quadrant[1] : nullptr;
  tile* r10 = r != nullptr ? r->quadrant[2] : nullptr;
  tile* r11 = r != nullptr ? r->quadrant[3] : nullptr;
  const int lower = depth - 1;
  for (int k = 0; k < 2; ++k) {
    const tile* const a0 = a->quadrant[k];
    const tile* const a1 = a->quadrant[2 + k];
    const tile* const b0 = b->quadrant[k];
    const tile* const b1 = b->quadrant[2 + k];
    BENCH_SCOPE(s);
    if (a0 != nullptr && b0 != nullptr) {
      BENCH_FORK(s, r00, subtract, r00, a0, b0, lower, pool);
    }
    if (a0 != nullptr && b1 != nullptr) {
      BENCH_FORK(s, r01, subtract, r01, a0, b1, lower, pool);
    }
    if (a1 != nullptr && b0 != nullptr) {
      BENCH_FORK(s, r10, subtract, r10, a1, b0, lower, pool);
    }
    if (a1 != nullptr && b1 != nullptr)
      r11 = subtract(r11, a1, b1, lower, pool);
    BENCH_JOIN(s);
  }
  if (r == nullptr) {
    if (r00 == nullptr && r01 == nullptr && r10 == nullptr && r11 == nullptr)
      return nullptr;
    r = pool->take();
  }
  r->quadrant[0] = r00;
  r->quadrant[1] = r01;
  r->quadrant[2] = r10;
  r->quadrant[3] = r11;
  return r;
}

// r -= a a^T, where r is on the diagonal
BENCH_TASK void subtract_lower(tile* r, const tile* a, int depth, tile_pool* pool) {
  if (depth == 0) {
    subtract_lower_leaf(r->entry, a->entry);
    return;
  }
  const int lower = depth - 1;
  for (int k = 0; k < 2; ++k) {
    const tile* const a0 = a->quadrant[k];
    const tile* const a1 = a->quadrant[2 + k];
    tile* const r10 = r->quadrant[2];
    BENCH_SCOPE(s);
    if (a0 != nullptr) {
      BENCH_FORK_VOID(s, subtract_lower, r->quadrant[0], a0, lower, pool);
    }
    if (a0 != nullptr && a1 != nullptr) {
      BENCH_FORK(s, r->quadrant[2], subtract, r10, a1, a0, lower, pool);
    }
    if (a1 != nullptr)
      subtract_lower(r->quadrant[3], a1, lower, pool);
    BENCH_JOIN(s);
  }
}

// a = a l^-T, where l is a factor on the diagonal
BENCH_TASK void solve(tile* a, const tile* l, int depth, tile_pool* pool) {
  if (depth == 0) {
    solve_leaf(a->entry, l->entry);
    return;
  }
  const int lower = depth - 1;
  tile* const* const from = a->quadrant;
  const tile* const l00 = l->quadrant[0];
  const tile* const l10 = l->quadrant[2];
  const tile* const l11 = l->quadrant[3];
  BENCH_SCOPE(s);
  if (from[0] != nullptr) {
    BENCH_FORK_VOID(s, solve, from[0], l00, lower, pool);
  }
  if (from[2] != nullptr)
    solve(from[2], l00, lower, pool);
  BENCH_JOIN(s);
  if (l10 != nullptr) {
    if (from[0] != nullptr) {
      BENCH_FORK(s, a->quadrant[1], subtract, from[1], from[0], l10, lower, pool);
    }
    if (from[2] != nullptr)
      a->quadrant[3] = subtract(from[3], from[2], l10, lower, pool);
    BENCH_JOIN(s);
  }
  if (from[1] != nullptr) {
    BENCH_FORK_VOID(s, solve, from[1], l11, lower, pool);
  }
  if (from[3] != nullptr)
    solve(from[3], l11, lower, pool);
  BENCH_JOIN(s);
}

BENCH_TASK void cholesky(tile* a, int depth, tile_pool* pool) {
  if (depth == 0) {
    factor_leaf(a->entry);
    return;
  }
  const int lower = depth - 1;
  tile* const a00 = a->quadrant[0];
  tile* const a10 = a->quadrant[2];
  tile* const a11 = a->quadrant[3];
  if (a11 == nullptr) { // beyond the order of the matrix
    cholesky(a00, lower, pool);
  } else if (a10 == nullptr) {
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, cholesky, a00, lower, pool);
    cholesky(a11, lower, pool);
    BENCH_JOIN(s);
  } else {
    cholesky(a00, lower, pool);
    solve(a10, a00, lower, pool);
    subtract_lower(a11, a10, lower, pool);
    cholesky(a11, lower, pool);
  }
}

class cholesky_problem {
public:
  static constexpr const char* name = "cholesky";

  explicit cholesky_problem(size chosen)
      : cholesky_problem(chosen == size::test    ? random_matrix(200, 1'000)
                         : chosen == size::quick ? random_matrix(2'000, 20'000)
                                                 : random_matrix(4'000, 40'000)) {}

  // Of another order; as there, ten nonzeros a row.
  cholesky_problem(size, long order) : cholesky_problem(of_order(order)) {}

  // A matrix read from a file.
  explicit cholesky_problem(const std::string& path) : cholesky_problem(read_matrix_market(path)) {
    path_ = path;
  }

  long n() const { return matrix_.order; }
  std::uint64_t forks() const { return pattern_.forks(); }

  void prepare() {
    pool_.reserve(pattern_.tiles());
    root_ = pool_.take();
    for (const matrix_entry& e : matrix_.lower)
      *place(e.row, e.column) = e.value;
    // Ones on the diagonal complete the last leaf.
    const std::int32_t whole = (matrix_.order + tile_side - 1) / tile_side * tile_side;
    for (std::int32_t i = 0; i < whole; ++i) {
      double* const diagonal = place(i, i);
      if (i >= matrix_.order)
        *diagonal = 1.0;
    }
  }

  void compute() { cholesky(root_, pattern_.depth(), &pool_); }

  // L (L^T x) = A x for a random x of positive entries. The tolerance is relative to |L| |L^T| x,
  // of which rounding takes about a quarter of sqrt(n) epsilons whatever definite matrix it is. In
  // the random matrices the fill is all of one sign, so that nothing lost is made up for elsewhere;
  // a lost product of two leaves, if it is not zero, shows mostly at a 1e-11th or more.
  bool verify() const {
    random_numbers random(1977);
    vector x(static_cast<std::size_t>(matrix_.order));
    for (double& value : x)
      value = std::ldexp(static_cast<double>(random.next() >> 11), -53);
    const vector product = times_factor(times_factor_transposed(x, false), false);
    const vector scale = times_factor(times_factor_transposed(x, true), true);
    const vector wanted = times_matrix(x);
    const double tolerance =
        4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!(std::abs(product[i] - wanted[i]) <= tolerance * scale[i])) {
        refuse_indefinite();
        return false;
      }
    }
    return true;
  }

protected:
  using vector = std::vector<double>;

  explicit cholesky_problem(symmetric_matrix matrix)
      : matrix_(std::move(matrix)), pattern_(matrix_, tile_side) {}

  static symmetric_matrix of_order(long order) {
    if (order < 16 || order > 4'000)
      throw std::invalid_argument("cholesky accepts --n 16 to 4000, the order of the matrix");
    return random_matrix(static_cast<std::int32_t>(order), 10 * static_cast<std::size_t>(order));
  }

  // `nonzeros` of them in the lower triangle, at random places off the diagonal and on all of it.
  // The diagonal exceeds the sum of the others in its row by a hundredth; those are negative.
  static symmetric_matrix random_matrix(std::int32_t order, std::size_t nonzeros) {
    random_numbers random(2010);
    const auto any = [&] {
      return static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(order));
    };
    symmetric_matrix matrix{order, {}};
    std::set<std::pair<std::int32_t, std::int32_t>> places;
    vector diagonal(static_cast<std::size_t>(order), 0.01);
    while (matrix.lower.size() < nonzeros - static_cast<std::size_t>(order)) {
      const std::int32_t row = any();
      const std::int32_t column = any();
      if (row <= column || !places.insert({row, column}).second)
        continue;
      const double value = 0.5 + std::ldexp(static_cast<double>(random.next() >> 11), -53);
      matrix.lower.push_back({row, column, -value});
      diagonal[static_cast<std::size_t>(row)] += value;
      diagonal[static_cast<std::size_t>(column)] += value;
    }
    for (std::int32_t i = 0; i < order; ++i)
      matrix.lower.push_back({i, i, diagonal[static_cast<std::size_t>(i)]});
    return matrix;
  }

  // Where an entry lies, with the tiles on the way to it.
  double* place(std::int32_t row, std::int32_t column) {
    tile* block = root_;
    for (int level = pattern_.depth() - 1; level >= 0; --level) {
      const std::int32_t below = row / tile_side >> level & 1;
      const std::int32_t right = column / tile_side >> level & 1;
      tile** const quadrant = &block->quadrant[2 * below + right];
      if (*quadrant == nullptr)
        *quadrant = pool_.take();
      block = *quadrant;
    }
    return &block->entry[row % tile_side * tile_side + column % tile_side];
  }

  // Calls f(row, column, entry) for all of the factor.
  template <class F> void each_entry(F f) const { each_entry(root_, pattern_.depth(), 0, 0, f); }

  template <class F>
  void each_entry(const tile* block, int depth, std::int32_t row, std::int32_t column, F& f) const {
    for (int part = 0; depth > 0 && part < 4; ++part) {
      const std::int32_t half = tile_side << (depth - 1);
      if (block->quadrant[part] != nullptr)
        each_entry(block->quadrant[part], depth - 1, row + part / 2 * half,
                   column + part % 2 * half, f);
    }
    for (int e = 0; depth == 0 && e < tile_side * tile_side; ++e) {
      const std::int32_t i = row + e / tile_side;
      const std::int32_t j = column + e % tile_side;
      if (i < matrix_.order && j < matrix_.order)
        f(static_cast<std::size_t>(i), static_cast<std::size_t>(j), block->entry[e]);
    }
  }

  vector times_factor(const vector& x, bool absolute) const {
    vector y(x.size(), 0.0);
    each_entry([&](std::size_t i, std::size_t j, double entry) {
      y[i] += (absolute ? std::abs(entry) : entry) * x[j];
    });
    return y;
  }

  vector times_factor_transposed(const vector& x, bool absolute) const {
    vector y(x.size(), 0.0);
    each_entry([&](std::size_t i, std::size_t j, double entry) {
      y[j] += (absolute ? std::abs(entry) : entry) * x[i];
    });
    return y;
  }

  vector times_matrix(const vector& x) const {
    vector y(x.size(), 0.0);
    for (const matrix_entry& e : matrix_.lower) {
      const auto i = static_cast<std::size_t>(e.row);
      const auto j = static_cast<std::size_t>(e.column);
      y[i] += e.value * x[j];
      if (i != j)
        y[j] += e.value * x[i];
    }
    return y;
  }

  // A file may hold a matrix that has no factor: then a root was taken of what is not positive.
  void refuse_indefinite() const {
    bool definite = true;
    each_entry([&](std::size_t i, std::size_t j, double entry) {
      if (i == j && !(entry > 0))
        definite = false;
    });
    if (!path_.empty() && !definite)
      throw std::invalid_argument(path_ + ": the matrix is not positive definite");
  }

  symmetric_matrix matrix_;
  cholesky_pattern pattern_;
  std::string path_;
  tile_pool pool_;
  tile* root_ = nullptr;
};

} // namespace bench
