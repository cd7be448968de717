// SPDX-License-Identifier: MIT
// Which blocks of a sparse Cholesky factor are not zero, at every level of the quadtree; from that
// alone, how many tiles and forks the factorization of cholesky.h takes.
//
// A block is named by its level d (the leaves are level 0), its row i and its column k <= i; those
// on the diagonal are all there. Products read finished blocks of the factor, and what comes later
// fills no block that would have been met empty and left out, so what runs follows from the final
// pattern:
//   - subtract and subtract_lower run once for each i >= j > k with blocks (i, k) and (j, k), as a
//     fork unless i and j are both odd (the last quadrant is a call);
//   - solve runs once for each block (i, k) below the diagonal, as a fork if i is even;
//   - two diagonal blocks are factored side by side, with one fork, if nothing lies between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "bench/matrix_market.h"

namespace bench {

class cholesky_pattern {
public:
  // Leaves are `side` x `side`.
  cholesky_pattern(const symmetric_matrix& matrix, std::int32_t side) {
    columns below((static_cast<std::size_t>(matrix.order) + static_cast<std::size_t>(side) - 1) /
                  static_cast<std::size_t>(side));
    for (const matrix_entry& e : matrix.lower) {
      if (e.row / side != e.column / side)
        below[static_cast<std::size_t>(e.column / side)].push_back(e.row / side);
    }
    for (rows& column : below)
      make_set(&column);
    fill(&below);
    for (;;) {
      count(below);
      if (below.size() == 1)
        return;
      below = coarser(below);
      ++depth_;
    }
  }

  // The level of the root.
  int depth() const { return depth_; }
  std::uint64_t tiles() const { return tiles_; }
  std::uint64_t forks() const { return forks_; }

private:
  using rows = std::vector<std::int32_t>;
  // For each column the rows of its blocks below the diagonal, ascending.
  using columns = std::vector<rows>;

  static void make_set(rows* column) {
    std::sort(column->begin(), column->end());
    column->erase(std::unique(column->begin(), column->end()), column->end());
  }

  // Eliminating a column joins its rows to one another. It is enough to hand them to the first of
  // them, which hands them on.
  static void fill(columns* below) {
    for (const rows& column : *below) {
      if (column.empty())
        continue;
      rows& heir = (*below)[static_cast<std::size_t>(column.front())];
      rows joined;
      std::set_union(heir.begin(), heir.end(), column.begin() + 1, column.end(),
                     std::back_inserter(joined));
      heir.swap(joined);
    }
  }

  static columns coarser(const columns& below) {
    columns parents((below.size() + 1) / 2);
    for (std::size_t k = 0; k < below.size(); ++k) {
      for (const std::int32_t row : below[k]) {
        if (static_cast<std::size_t>(row / 2) != k / 2)
          parents[k / 2].push_back(row / 2);
      }
    }
    for (rows& column : parents)
      make_set(&column);
    return parents;
  }

  // Tiles and forks of one level.
  void count(const columns& below) {
    const auto pairs = [](std::uint64_t n) { return n * (n + 1) / 2; };
    for (std::size_t k = 0; k < below.size(); ++k) {
      const rows& column = below[k];
      const auto all = static_cast<std::uint64_t>(column.size());
      const auto odd = static_cast<std::uint64_t>(
          std::count_if(column.begin(), column.end(), [](std::int32_t i) { return i % 2 == 1; }));
      tiles_ += all + 1;
      forks_ += pairs(all) - pairs(odd) + (all - odd);
      const bool has_brother = k % 2 == 0 && k + 1 < below.size();
      const bool joined = !column.empty() && static_cast<std::size_t>(column.front()) == k + 1;
      if (has_brother && !joined)
        ++forks_;
    }
  }

  int depth_ = 0;
  std::uint64_t tiles_ = 0;
  std::uint64_t forks_ = 0;
};

} // namespace bench
