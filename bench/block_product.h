// SPDX-License-Identifier: MIT
// C += A B on small matrices whose rows follow each other: the base case of divide and conquer.
#pragma once

#include "bench/base_case.h"

#include <cstddef>

namespace bench {

// Four rows of B at a time, so that a row of C is read and written once for four multiplications.
template <std::ptrdiff_t Rows, std::ptrdiff_t Inner, std::ptrdiff_t Columns>
BENCH_BASE_CASE void add_block_product(const double* __restrict a, const double* __restrict b,
                                       double* __restrict c) {
  static_assert(Inner % 4 == 0);
  for (std::ptrdiff_t i = 0; i < Rows; ++i) {
    for (std::ptrdiff_t k = 0; k < Inner; k += 4) {
      const double* const x = a + i * Inner + k;
      const double* const y = b + k * Columns;
      const double x0 = x[0];
      const double x1 = x[1];
      const double x2 = x[2];
      const double x3 = x[3];
      for (std::ptrdiff_t j = 0; j < Columns; ++j) {
        c[i * Columns + j] +=
            x0 * y[j] + x1 * y[Columns + j] + (x2 * y[2 * Columns + j] + x3 * y[3 * Columns + j]);
      }
    }
  }
}

} // namespace bench
