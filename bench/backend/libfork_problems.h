// SPDX-License-Identifier: MIT
// fib, integrate and nqueens as libfork's coroutines; sizes and verification are the shared ones.
#pragma once

#include "bench/problems/fib.h"
#include "bench/problems/integrate.h"
#include "bench/problems/nqueens.h"

namespace bench::on_libfork {

inline constexpr auto fib = [](auto fib, long n) LF_STATIC_CALL -> lf::task<long> {
  if (n < 2)
    co_return n;
  long x = 0;
  long y = 0;
  co_await lf::fork(&x, fib)(n - 1);
  co_await lf::call(&y, fib)(n - 2);
  co_await lf::join;
  co_return x + y;
};

inline constexpr auto integrate = [](auto integrate, double x1, double y1, double x2, double y2,
                                     double area) LF_STATIC_CALL -> lf::task<double> {
  const double half = (x2 - x1) / 2;
  const double x0 = x1 + half;
  const double y0 = integrand(x0);
  const double area_left = (y1 + y0) / 2 * half;
  const double area_right = (y0 + y2) / 2 * half;
  const double refined = area_left + area_right;
  if (std::abs(refined - area) < integrate_epsilon)
    co_return refined;
  double left = 0;
  double right = 0;
  co_await lf::fork(&left, integrate)(x1, y1, x0, y0, area_left);
  co_await lf::call(&right, integrate)(x0, y0, x2, y2, area_right);
  co_await lf::join;
  co_return left + right;
};

inline constexpr auto place = [](auto place, const signed char* above, int n, int row, int column)
                                  LF_STATIC_CALL -> lf::task<int> {
  signed char board[board_max];
  for (int r = 0; r < row; ++r) {
    if (attacks(row, column, r, above[r]))
      co_return 0;
    board[r] = above[r];
  }
  // The empty board is row -1: there is no queen to put down.
  if (row >= 0)
    board[row] = static_cast<signed char>(column);
  if (row + 1 == n)
    co_return 1;
  int found[board_max];
  for (int c = 0; c < n; ++c) {
    co_await lf::fork(&found[c], place)(board, n, row + 1, c);
  }
  co_await lf::join;
  int sum = 0;
  for (int c = 0; c < n; ++c)
    sum += found[c];
  co_return sum;
};

class fib_problem : public bench::fib_problem {
public:
  using bench::fib_problem::fib_problem;
  void compute() { result_ = lf::sync_wait(runtime::pool(), fib, n_); }
};

class integrate_problem : public bench::integrate_problem {
public:
  using bench::integrate_problem::integrate_problem;
  void compute() {
    const double end = static_cast<double>(known_.n);
    result_ =
        lf::sync_wait(runtime::pool(), integrate, 0.0, integrand(0), end, integrand(end), 0.0);
  }
};

class nqueens_problem : public bench::nqueens_problem {
public:
  using bench::nqueens_problem::nqueens_problem;
  void compute() {
    result_ = lf::sync_wait(runtime::pool(), place, static_cast<const signed char*>(nullptr),
                            known_.n, -1, 0);
  }
};

} // namespace bench::on_libfork
