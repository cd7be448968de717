// SPDX-License-Identifier: MIT
// A board of eight queens, found by nested alternatives.
#pragma once

#include "nopal/either.h"
#include "tests/api/support.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nopal_test {

using board = std::array<int, 8>;
inline bool attacked(const board& queens, int row, int column) {
  for (int i = 0; i < row; ++i) {
    const int other = queens[static_cast<std::size_t>(i)];
    if (other == column || other - column == row - i || column - other == row - i)
      return true;
  }
  return false;
}
// An alternative for each column of the row.
inline std::optional<board> queens_from(board queens, int row, int first, int last) {
  if (row == 8)
    return queens;
  if (last - first > 1) {
    const int middle = (first + last) / 2;
    return nopal::either([=] { return queens_from(queens, row, first, middle); },
                         [=] { return queens_from(queens, row, middle, last); });
  }
  if (attacked(queens, row, first))
    return std::nullopt;
  queens[static_cast<std::size_t>(row)] = first;
  return queens_from(queens, row + 1, 0, 8);
}
inline bool solves(const board& queens) {
  for (int row = 0; row < 8; ++row)
    if (attacked(queens, row, queens[static_cast<std::size_t>(row)]))
      return false;
  return true;
}

// Finds a board `rounds` times, in a process of its own with forced steals, and returns how many of
// the boards are right.
inline std::optional<std::uint64_t> boards_solved(unsigned workers, int rounds) {
  return apart([=] {
    nopal::configure({.num_workers = workers});
    nopal::vproc::force_steals(workers);
    std::uint64_t solved = 0;
    for (int round = 0; round < rounds; ++round)
      if (const std::optional<board> found = queens_from({}, 0, 0, 8))
        solved += solves(*found) ? 1 : 0;
    return solved;
  });
}

} // namespace nopal_test
