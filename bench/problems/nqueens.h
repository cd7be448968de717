// SPDX-License-Identifier: MIT
// nqueens: counts the ways to place n queens, a fork for each square of the next row; 14 in the
// papers.
//
// A forked placement looks whether the queen is safe and copies the board from its parent's frame.
// There is no cut-off: the last row forks too.
#pragma once

#include <cstdint>

#include "bench/harness.h"

namespace bench {

inline constexpr int board_max = 16;

inline bool attacks(int row, int column, int other_row, int other_column) {
  const int rows = row - other_row;
  const int columns = column - other_column;
  return columns == 0 || columns == rows || columns == -rows;
}

BENCH_TASK int place(const signed char* above, int n, int row, int column);

// The solutions that begin with the queens of rows 0 to row - 1.
BENCH_TASK int extend(const signed char* board, int n, int row) {
  if (row == n)
    return 1;
  int found[board_max];
  BENCH_SCOPE(s);
  for (int column = 0; column < n; ++column) {
    BENCH_FORK(s, found[column], place, board, n, row, column);
  }
  BENCH_JOIN(s);
  int sum = 0;
  for (int column = 0; column < n; ++column)
    sum += found[column];
  return sum;
}

BENCH_TASK int place(const signed char* above, int n, int row, int column) {
  signed char board[board_max];
  for (int r = 0; r < row; ++r) {
    if (attacks(row, column, r, above[r]))
      return 0;
    board[r] = above[r];
  }
  board[row] = static_cast<signed char>(column);
  return extend(board, n, row + 1);
}

class nqueens_problem {
public:
  static constexpr const char* name = "nqueens";

  explicit nqueens_problem(size chosen)
      : known_(chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper) {}

  long n() const { return known_.n; }

  // Every safe placement of fewer than n queens, the empty board too, forks n times.
  std::uint64_t forks() const { return known_.forks; }

  void prepare() {}
  void compute() { result_ = extend(nullptr, known_.n, 0); }
  bool verify() const { return result_ == known_.solutions; }

protected:
  // Solutions: OEIS A000170. tests/bench/forks_test.cc counts the forks again.
  struct known {
    int n;
    std::uint64_t forks;
    int solutions;
  };
  static constexpr known of_test{8, 15'720, 92};
  static constexpr known of_quick{13, 59'815'314, 73'712};
  static constexpr known of_paper{14, 377'901'398, 365'596};

  known known_;
  int result_ = -1;
};

} // namespace bench
