// SPDX-License-Identifier: MIT
// board_nqueens: counts the ways to place 14 queens as the public board of runtimes does
// (tzcnt/runtime-benchmarks). The parent looks whether a queen is safe, forks for each that is, and
// gives the child a board of its own. nqueens forks for every square, and the child looks.
#pragma once

#include <cstdint>

#include "bench/harness.h"

namespace bench {

// The column of each row's queen. Two words, which a fork takes along in registers.
struct alignas(8) queens {
  signed char column[16];
};

inline bool is_safe(const queens& board, int row, int column) {
  for (int above = 0; above < row; ++above) {
    const int distance = column - board.column[above];
    if (distance == 0 || distance == row - above || distance == above - row)
      return false;
  }
  return true;
}

template <int N> BENCH_TASK int place_all(int row, queens board) {
  if (row == N)
    return 1;
  int found[N];
  int children = 0;
  BENCH_SCOPE(s);
  for (int column = 0; column < N; ++column) {
    if (!is_safe(board, row, column))
      continue;
    board.column[row] = static_cast<signed char>(column);
    BENCH_FORK(s, found[children], place_all<N>, row + 1, board);
    ++children;
  }
  BENCH_JOIN(s);
  int sum = 0;
  for (int child = 0; child < children; ++child)
    sum += found[child];
  return sum;
}

class board_nqueens_problem {
public:
  static constexpr const char* name = "board_nqueens";

  explicit board_nqueens_problem(size chosen) : known_(chosen == size::test ? of_test : of_board) {}

  long n() const { return known_.n; }
  // Every safe placement but the empty board.
  std::uint64_t forks() const { return known_.placements; }

  void prepare() {}
  void compute() { result_ = known_.n == 8 ? place_all<8>(0, {}) : place_all<14>(0, {}); }
  bool verify() const { return result_ == known_.solutions; }

private:
  // Solutions: OEIS A000170. tests/bench/forks_test.cc counts the placements again.
  struct known {
    int n;
    std::uint64_t placements;
    int solutions;
  };
  static constexpr known of_test{8, 2'056, 92};
  static constexpr known of_board{14, 27'358'552, 365'596};

  known known_;
  int result_ = -1;
};

} // namespace bench
