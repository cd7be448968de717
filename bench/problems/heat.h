// SPDX-License-Identifier: MIT
// heat: Jacobi heat diffusion on a grid, 100 steps; 4096 x 1024 points in Nowa's paper, 2048 x 500
// in Fibril's. `quick` is Nowa's size: it takes about a second. `--n` is another number of rows;
// 2048 gives Fibril's grid.
//
// Each step halves the range of rows, a fork for the upper half, down to one row. The border stays
// at zero.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"

namespace bench {

struct heat_step {
  const double* in;
  double* out;
  std::ptrdiff_t columns;
  double across; // dt / dy^2
  double down;   // dt / dx^2
};

BENCH_BASE_CASE inline void diffuse_row(const heat_step* step, std::ptrdiff_t row) {
  const std::ptrdiff_t columns = step->columns;
  const double across = step->across;
  const double down = step->down;
  const double* in = step->in + row * columns;
  double* out = step->out + row * columns;
  for (std::ptrdiff_t j = 1; j < columns - 1; ++j) {
    out[j] = in[j] + across * (in[j + 1] - 2 * in[j] + in[j - 1]) +
             down * (in[j + columns] - 2 * in[j] + in[j - columns]);
  }
}

BENCH_TASK void diffuse(const heat_step* step, std::ptrdiff_t first, std::ptrdiff_t last) {
  if (last - first == 1) {
    diffuse_row(step, first);
    return;
  }
  const std::ptrdiff_t middle = first + (last - first) / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, diffuse, step, first, middle);
  diffuse(step, middle, last);
  BENCH_JOIN(s);
}

class heat_problem {
public:
  static constexpr const char* name = "heat";

  explicit heat_problem(size chosen)
      : rows_(chosen == size::test ? 128 : 4096), columns_(chosen == size::test ? 64 : 1024) {}
  heat_problem(size, long n) : rows_(n), columns_(n == 2048 ? 500 : n / 4) {
    if (n < n_min || n > n_max) {
      throw std::invalid_argument("heat has no grid of " + std::to_string(n) +
                                  " rows; accepted are --n " + std::to_string(n_min) + " to " +
                                  std::to_string(n_max));
    }
  }

  long n() const { return static_cast<long>(rows_); }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(rows_ - 3) * steps; }

  // Two waves that vanish on the border; one of them short, so that a row missed for one step
  // shows clearly.
  void prepare() {
    grid_.resize(static_cast<std::size_t>(rows_ * columns_));
    for (std::ptrdiff_t i = 1; i < rows_ - 1; ++i) {
      for (std::ptrdiff_t j = 1; j < columns_ - 1; ++j) {
        grid_[index(i, j)] = expected(i, j, 0);
      }
    }
    next_.resize(grid_.size());
  }

  void compute() {
    for (int t = 0; t < steps; ++t) {
      const heat_step step{grid_.data(), next_.data(), columns_, across, down};
      diffuse(&step, 1, rows_ - 1);
      grid_.swap(next_);
    }
  }

  // Both waves are eigenvectors of the step, so the grid after t steps has a closed form.
  bool verify() const {
    for (std::ptrdiff_t i = 0; i < rows_; ++i) {
      for (std::ptrdiff_t j = 0; j < columns_; ++j) {
        const bool border = i == 0 || j == 0 || i == rows_ - 1 || j == columns_ - 1;
        const double wanted = border ? 0.0 : expected(i, j, steps);
        if (!(std::abs(grid_[index(i, j)] - wanted) <= 1e-11))
          return false;
      }
    }
    return true;
  }

protected:
  // The waves of the start have 37 and 23 half periods.
  static constexpr long n_min = 128;
  static constexpr long n_max = 1 << 16;
  static constexpr int steps = 100;
  static constexpr double across = 0.2;
  static constexpr double down = 0.15;

  std::size_t index(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return static_cast<std::size_t>(i * columns_ + j);
  }

  double wave(std::ptrdiff_t i, std::ptrdiff_t j, double k, double l, int t) const {
    const double pi = 3.14159265358979323846;
    const double x = pi * k / static_cast<double>(rows_ - 1);
    const double y = pi * l / static_cast<double>(columns_ - 1);
    const double decay = 1 - 2 * down * (1 - std::cos(x)) - 2 * across * (1 - std::cos(y));
    return std::pow(decay, t) * std::sin(x * static_cast<double>(i)) *
           std::sin(y * static_cast<double>(j));
  }

  double expected(std::ptrdiff_t i, std::ptrdiff_t j, int t) const {
    return wave(i, j, 1, 1, t) + 0.5 * wave(i, j, 37, 23, t);
  }

  std::ptrdiff_t rows_;
  std::ptrdiff_t columns_;
  std::vector<double> grid_;
  std::vector<double> next_;
};

} // namespace bench
