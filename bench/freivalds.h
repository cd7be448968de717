// SPDX-License-Identifier: MIT
// Freivalds' check that C = A B, exact for matrices of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/random.h"

namespace bench {

using residues = std::vector<std::uint64_t>;

// `entry(i, j)` is a floating-point number that holds an integer; arithmetic is modulo 2^64.
template <class Entry>
residues times_residues(std::size_t rows, std::size_t columns, Entry entry, const residues& x) {
  residues y(rows, 0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j)
      y[i] += static_cast<std::uint64_t>(static_cast<std::int64_t>(entry(i, j))) * x[j];
  }
  return y;
}

// C r = A (B r) for a random r. A wrong C whose entries are off by less than 2^32 passes with a
// probability below 2^-32.
template <class A, class B, class C>
bool is_product(std::size_t rows, std::size_t inner, std::size_t columns, A a, B b, C c) {
  random_numbers random(1977);
  residues r(columns);
  for (std::uint64_t& x : r)
    x = random.next();
  return times_residues(rows, columns, c, r) ==
         times_residues(rows, inner, a, times_residues(inner, columns, b, r));
}

} // namespace bench
