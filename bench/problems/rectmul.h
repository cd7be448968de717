// SPDX-License-Identifier: MIT
// rectmul: C += A B on rectangular matrices of doubles; 4096 x 4096 in the papers
// (fibril-spaa16, Table 1; cilk-m-pact10, Figure 7).
//
// The largest of the three dimensions is divided in two, down to blocks of 16 x 16, each of which
// lies in one piece of memory. Halves of the rows or of the columns of C are a fork and a call. The
// two products that belong to the halves of the inner dimension are added to C one after the other,
// so there is no temporary matrix: nothing is allocated while time is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/block_product.h"
#include "bench/freivalds.h"
#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

inline constexpr std::ptrdiff_t rectmul_block = 16;
inline constexpr std::ptrdiff_t rectmul_area = rectmul_block * rectmul_block;

// Dimensions are in blocks; the strides are the doubles in a row of blocks, B's that of C too.
BENCH_TASK void rectmul(const double* a, const double* b, double* c, std::ptrdiff_t rows,
                        std::ptrdiff_t inner, std::ptrdiff_t columns, std::ptrdiff_t a_stride,
                        std::ptrdiff_t b_stride) {
  if (rows == 1 && inner == 1 && columns == 1) {
    add_block_product<rectmul_block, rectmul_block, rectmul_block>(a, b, c);
  } else if (rows >= inner && rows >= columns) {
    const std::ptrdiff_t half = rows / 2;
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, rectmul, a, b, c, half, inner, columns, a_stride, b_stride);
    rectmul(a + half * a_stride, b, c + half * b_stride, rows - half, inner, columns, a_stride,
            b_stride);
    BENCH_JOIN(s);
  } else if (columns >= inner) {
    const std::ptrdiff_t half = columns / 2;
    const std::ptrdiff_t across = half * rectmul_area;
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, rectmul, a, b, c, rows, inner, half, a_stride, b_stride);
    rectmul(a, b + across, c + across, rows, inner, columns - half, a_stride, b_stride);
    BENCH_JOIN(s);
  } else {
    const std::ptrdiff_t half = inner / 2;
    rectmul(a, b, c, rows, half, columns, a_stride, b_stride);
    rectmul(a + half * rectmul_area, b + half * b_stride, c, rows, inner - half, columns, a_stride,
            b_stride);
  }
}

class rectmul_problem {
public:
  static constexpr const char* name = "rectmul";

  explicit rectmul_problem(size chosen)
      : shape_(chosen == size::test    ? shape{6, 4, 5}
               : chosen == size::quick ? shape{96, 96, 96}
                                       : shape{256, 256, 256}) {}

  long n() const { return static_cast<long>(shape_.rows * rectmul_block); }
  std::uint64_t forks() const { return forks_of(shape_); }

  // Entries from 0 to 7: every sum is an integer that a double holds exactly.
  void prepare() {
    random_numbers random(2016);
    a_.resize(doubles(shape_.rows, shape_.inner));
    b_.resize(doubles(shape_.inner, shape_.columns));
    c_.assign(doubles(shape_.rows, shape_.columns), 0.0);
    for (double& x : a_)
      x = static_cast<double>(random.next() >> 61);
    for (double& x : b_)
      x = static_cast<double>(random.next() >> 61);
  }

  void compute() {
    rectmul(a_.data(), b_.data(), c_.data(), shape_.rows, shape_.inner, shape_.columns,
            shape_.inner * rectmul_area, shape_.columns * rectmul_area);
  }

  bool verify() const {
    constexpr std::size_t order = rectmul_block;
    const auto entry_of = [](const std::vector<double>& matrix, std::ptrdiff_t columns) {
      return [&matrix, columns = static_cast<std::size_t>(columns)](std::size_t i, std::size_t j) {
        const std::size_t block = i / order * columns + j / order;
        return matrix[(block * order + i % order) * order + j % order];
      };
    };
    return is_product(static_cast<std::size_t>(shape_.rows) * order,
                      static_cast<std::size_t>(shape_.inner) * order,
                      static_cast<std::size_t>(shape_.columns) * order, entry_of(a_, shape_.inner),
                      entry_of(b_, shape_.columns), entry_of(c_, shape_.columns));
  }

protected:
  struct shape {
    std::ptrdiff_t rows;
    std::ptrdiff_t inner;
    std::ptrdiff_t columns;
  };

  // A division of C forks once, one of the inner dimension does not.
  static std::uint64_t forks_of(shape x) {
    if (x.rows == 1 && x.inner == 1 && x.columns == 1)
      return 0;
    std::ptrdiff_t shape::* const largest = x.rows >= x.inner && x.rows >= x.columns ? &shape::rows
                                            : x.columns >= x.inner ? &shape::columns
                                                                   : &shape::inner;
    shape lower = x;
    lower.*largest /= 2;
    shape upper = x;
    upper.*largest -= lower.*largest;
    return (largest == &shape::inner ? 0 : 1) + forks_of(lower) + forks_of(upper);
  }

  static std::size_t doubles(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return static_cast<std::size_t>(rows * columns * rectmul_area);
  }

  shape shape_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
};

} // namespace bench
