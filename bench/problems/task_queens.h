// SPDX-License-Identifier: MIT
// task_queens: counts the ways to place n queens, like nqueens.h after BOTS, written with tasks.
//
// A task has a range of the squares of one row, and halves it until one is left, as
// uni-address-hpdc15 does (section 6.1). Boards go along by value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/harness.h"

namespace bench {

// Queens in rows 0 to row - 1; the one of the next row is to come on a square of [first, last). It
// is aligned to words, as in uts.h.
struct alignas(8) queens_range {
  std::array<std::int8_t, 16> columns;
  std::int8_t n;
  std::int8_t row;
  std::int8_t first;
  std::int8_t last;

  bool first_is_free() const {
    for (int other = 0; other < row; ++other) {
      const int aside = columns[static_cast<std::size_t>(other)] - first;
      if (aside == 0 || aside == row - other || aside == other - row)
        return false;
    }
    return true;
  }
};

struct queens_counts {
  std::uint64_t boards; // with n queens
  std::uint64_t rows;   // that were searched
};

BENCH_TASK queens_counts count_queens(queens_range range) {
  if (range.last - range.first == 1) {
    if (!range.first_is_free())
      return {0, 0};
    if (range.row + 1 == range.n)
      return {1, 0};
    range.columns[static_cast<std::size_t>(range.row)] = range.first;
    const queens_counts below =
        count_queens({range.columns, range.n, std::int8_t(range.row + 1), 0, range.n});
    return {below.boards, below.rows + 1};
  }
  queens_range half = range;
  half.last = static_cast<std::int8_t>((range.first + range.last) / 2);
  BENCH_SCOPE(s);
  BENCH_SPAWN(s, left, count_queens, half);
  range.first = half.last;
  const queens_counts right = count_queens(range);
  BENCH_JOIN_TASK(s, left);
  return {left.boards + right.boards, left.rows + right.rows};
}

class task_queens_problem {
public:
  static constexpr const char* name = "task_queens";

  explicit task_queens_problem(size chosen)
      : known_{chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper} {}

  long n() const { return known_.n; }
  // Each row below the first begins behind a safe placement; a row forks n - 1 times.
  std::uint64_t forks() const { return (known_.rows + 1) * static_cast<unsigned>(known_.n - 1); }
  std::size_t region_size() const { return std::size_t{256} << 10; }

  auto root() const {
    return [n = known_.n] { return count_queens({{}, n, 0, 0, n}); };
  }
  bool verify(const queens_counts& got) const {
    return got.boards == known_.boards && got.rows == known_.rows;
  }

private:
  // Boards: OEIS A000170. Rows: placements of fewer than n queens, the empty board not counted;
  // those of 8 and 14 queens are as many as in nqueens.h, whose forks are n (rows + 1).
  struct known {
    std::int8_t n;
    std::uint64_t boards;
    std::uint64_t rows;
  };
  static constexpr known of_test{8, 92, 15'720 / 8 - 1};
  static constexpr known of_quick{12, 14'200, 841'988};
  static constexpr known of_paper{14, 365'596, 377'901'398 / 14 - 1};

  known known_;
};

} // namespace bench
