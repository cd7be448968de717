// SPDX-License-Identifier: MIT
// fib, integrate and nqueens in Lace's macros; sizes and verification are the shared ones.
#pragma once

#include "bench/problems/fib.h"
#include "bench/problems/integrate.h"
#include "bench/problems/nqueens.h"

TASK_1(long, lace_fib, long, n) {
  if (n < 2)
    return n;
  SPAWN(lace_fib, n - 1);
  const long y = CALL(lace_fib, n - 2);
  return SYNC(lace_fib) + y;
}

TASK_5(double, lace_integrate, double, x1, double, y1, double, x2, double, y2, double, area) {
  const double half = (x2 - x1) / 2;
  const double x0 = x1 + half;
  const double y0 = bench::integrand(x0);
  const double area_left = (y1 + y0) / 2 * half;
  const double area_right = (y0 + y2) / 2 * half;
  const double refined = area_left + area_right;
  if (std::abs(refined - area) < bench::integrate_epsilon)
    return refined;
  SPAWN(lace_integrate, x1, y1, x0, y0, area_left);
  const double right = CALL(lace_integrate, x0, y0, x2, y2, area_right);
  return SYNC(lace_integrate) + right;
}

TASK_4(int, lace_place, const signed char*, above, int, n, int, row, int, column) {
  signed char board[bench::board_max];
  for (int r = 0; r < row; ++r) {
    if (bench::attacks(row, column, r, above[r]))
      return 0;
    board[r] = above[r];
  }
  // The empty board is row -1: there is no queen to put down.
  if (row >= 0)
    board[row] = static_cast<signed char>(column);
  if (row + 1 == n)
    return 1;
  for (int c = 0; c < n; ++c)
    SPAWN(lace_place, board, n, row + 1, c);
  int sum = 0;
  for (int c = 0; c < n; ++c)
    sum += SYNC(lace_place);
  return sum;
}

namespace bench::on_lace {

class fib_problem : public bench::fib_problem {
public:
  using bench::fib_problem::fib_problem;
  void compute() { result_ = RUN(lace_fib, n_); }
};

class integrate_problem : public bench::integrate_problem {
public:
  using bench::integrate_problem::integrate_problem;
  void compute() {
    const double end = static_cast<double>(known_.n);
    result_ = RUN(lace_integrate, 0.0, integrand(0), end, integrand(end), 0.0);
  }
};

class nqueens_problem : public bench::nqueens_problem {
public:
  using bench::nqueens_problem::nqueens_problem;
  void compute() { result_ = RUN(lace_place, nullptr, known_.n, -1, 0); }
};

} // namespace bench::on_lace
