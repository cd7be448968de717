// SPDX-License-Identifier: MIT
// The tiles of cholesky.h: what a node of the quadtree is, where new ones come from, and the four
// operations on leaves.
#pragma once

#include "bench/base_case.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace bench {

inline constexpr int tile_side = 4;

// A leaf's entries row by row, or the quadrants of a larger block: upper left, upper right, lower
// left, lower right. On the diagonal the upper right is empty.
union alignas(64) tile {
  double entry[tile_side * tile_side];
  tile* quadrant[4];
};

// New tiles come from one array, counted out by an atomic: the pattern tells how many there will
// be, so what is timed neither meets an allocator's locks nor touches fresh memory, whichever
// worker a strand is on.
class tile_pool {
public:
  void reserve(std::size_t count) {
    tiles_.assign(count, tile{});
    taken_.store(0, std::memory_order_relaxed);
  }

  // A leaf of zeros, or a block of empty quadrants.
  tile* take() {
    const std::size_t index = taken_.fetch_add(1, std::memory_order_relaxed);
    if (index >= tiles_.size())
      std::abort();
    return &tiles_[index];
  }

private:
  std::vector<tile> tiles_;
  std::atomic<std::size_t> taken_{0};
};

// r -= a b^T
BENCH_BASE_CASE inline void subtract_leaf(double* r, const double* a, const double* b) {
  for (int i = 0; i < tile_side; ++i) {
    for (int j = 0; j < tile_side; ++j) {
      double sum = r[i * tile_side + j];
      for (int k = 0; k < tile_side; ++k)
        sum -= a[i * tile_side + k] * b[j * tile_side + k];
      r[i * tile_side + j] = sum;
    }
  }
}

// r -= a a^T, on and below the diagonal
BENCH_BASE_CASE inline void subtract_lower_leaf(double* r, const double* a) {
  for (int i = 0; i < tile_side; ++i) {
    for (int j = 0; j <= i; ++j) {
      for (int k = 0; k < tile_side; ++k)
        r[i * tile_side + j] -= a[i * tile_side + k] * a[j * tile_side + k];
    }
  }
}

// a = a l^-T
BENCH_BASE_CASE inline void solve_leaf(double* a, const double* l) {
  for (int i = 0; i < tile_side; ++i) {
    double* const row = a + i * tile_side;
    for (int j = 0; j < tile_side; ++j) {
      for (int k = 0; k < j; ++k)
        row[j] -= row[k] * l[j * tile_side + k];
      row[j] /= l[j * tile_side + j];
    }
  }
}

BENCH_BASE_CASE inline void factor_leaf(double* a) {
  for (int j = 0; j < tile_side; ++j) {
    double* const row = a + j * tile_side;
    for (int k = 0; k < j; ++k)
      row[j] -= row[k] * row[k];
    row[j] = std::sqrt(row[j]);
    for (int i = j + 1; i < tile_side; ++i) {
      double* const lower = a + i * tile_side;
      for (int k = 0; k < j; ++k)
        lower[j] -= lower[k] * row[k];
      lower[j] /= row[j];
    }
  }
}

} // namespace bench
