// SPDX-License-Identifier: MIT
// strassen: C = A B on n x n doubles by Strassen's seven products; n = 4096 in the papers
// (fibril-spaa16, Table 1; cilk-m-pact10, Figure 7).
//
// Classic: seven products of sums (six forks and a call), then their combination into the quadrants
// of C. A product of 64 x 64 matrices is the base case, an ordinary one. Sums and combination are
// parallel too (they halve their rows down to 64 x 64 elements), and temporary matrices lie in
// memory that is there before time is taken, both as in nowa-ipdps21, section V. As all products of
// a level may be alive at once, that memory grows by 7/4 with each level: 10 GiB for n = 4096.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/block_product.h"
#include "bench/freivalds.h"
#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

inline constexpr std::ptrdiff_t strassen_base = 64;

// x, or x + sign * y where there is a y; both have the same stride.
struct strassen_sum {
  const double* x;
  const double* y;
  double sign;
  std::ptrdiff_t stride;

  std::ptrdiff_t terms() const { return y == nullptr ? 1 : 2; }

  // The part that begins at (row, column), written to `out` densely.
  void write(std::ptrdiff_t row, std::ptrdiff_t column, std::ptrdiff_t rows, std::ptrdiff_t columns,
             double* __restrict out) const {
    for (std::ptrdiff_t i = 0; i < rows; ++i, out += columns) {
      const std::ptrdiff_t from = (row + i) * stride + column;
      if (y == nullptr) {
        std::copy(x + from, x + from + columns, out);
      } else {
        for (std::ptrdiff_t j = 0; j < columns; ++j)
          out[j] = x[from + j] + sign * y[from + j];
      }
    }
  }
};

// A product to be made, and its memory for temporaries.
struct strassen_product {
  strassen_sum a;
  strassen_sum b;
  double* c;
  std::ptrdiff_t c_stride;
  double* work;
};

// Where a level's products are: the first, fourth and fifth are dense, the others in C's quadrants.
struct strassen_quadrants {
  const double* first;
  const double* fourth;
  const double* fifth;
  double* c11; // the seventh
  double* c12; // the third
  double* c21; // the second
  double* c22; // the sixth
  std::ptrdiff_t stride;

  void combine(std::ptrdiff_t row, std::ptrdiff_t rows, std::ptrdiff_t columns) const {
    for (std::ptrdiff_t i = row; i < row + rows; ++i) {
      for (std::ptrdiff_t j = 0; j < columns; ++j) {
        const std::ptrdiff_t dense = i * columns + j;
        const std::ptrdiff_t at = i * stride + j;
        c11[at] += first[dense] + fourth[dense] - fifth[dense];
        c22[at] += first[dense] - c21[at] + c12[at];
        c12[at] += fifth[dense];
        c21[at] += fourth[dense];
      }
    }
  }
};

// The ordinary product, from columns of B and rows of A that are summed where they are used: what
// it keeps on the stack is small, and none of it is in a frame that forks.
BENCH_BASE_CASE inline void strassen_multiply_base(const strassen_product* product) {
  constexpr std::ptrdiff_t rows = 4;
  constexpr std::ptrdiff_t columns = 16;
  double b[strassen_base * columns];
  double a[rows * strassen_base];
  for (std::ptrdiff_t j = 0; j < strassen_base; j += columns) {
    product->b.write(0, j, strassen_base, columns, b);
    for (std::ptrdiff_t i = 0; i < strassen_base; i += rows) {
      product->a.write(i, 0, rows, strassen_base, a);
      double c[rows * columns] = {};
      add_block_product<rows, strassen_base, columns>(a, b, c);
      for (std::ptrdiff_t k = 0; k < rows * columns; ++k)
        product->c[(i + k / columns) * product->c_stride + j + k % columns] = c[k];
    }
  }
}

BENCH_TASK void strassen_add(const strassen_sum* sum, double* out, std::ptrdiff_t row,
                             std::ptrdiff_t rows, std::ptrdiff_t n) {
  if (rows * n <= strassen_base * strassen_base) {
    sum->write(row, 0, rows, n, out + row * n);
    return;
  }
  const std::ptrdiff_t half = rows / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, strassen_add, sum, out, row, half, n);
  strassen_add(sum, out, row + half, rows - half, n);
  BENCH_JOIN(s);
}

BENCH_TASK void strassen_combine(const strassen_quadrants* quadrants, std::ptrdiff_t row,
                                 std::ptrdiff_t rows, std::ptrdiff_t n) {
  if (rows * n <= strassen_base * strassen_base) {
    quadrants->combine(row, rows, n);
    return;
  }
  const std::ptrdiff_t half = rows / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, strassen_combine, quadrants, row, half, n);
  strassen_combine(quadrants, row + half, rows - half, n);
  BENCH_JOIN(s);
}

// Doubles for temporaries of a product of n x n, below those for its own two sums.
inline std::ptrdiff_t strassen_work(std::ptrdiff_t n) {
  if (n == strassen_base)
    return 0;
  const std::ptrdiff_t area = (n / 2) * (n / 2);
  const std::ptrdiff_t sums = n / 2 == strassen_base ? 0 : 10;
  return (3 + sums) * area + 7 * strassen_work(n / 2);
}

// The seven products of a product of single terms.
inline strassen_quadrants strassen_split(const strassen_product* whole, std::ptrdiff_t n,
                                         strassen_product* parts) {
  const std::ptrdiff_t half = n / 2;
  const std::ptrdiff_t area = half * half;
  const std::ptrdiff_t as = whole->a.stride;
  const std::ptrdiff_t bs = whole->b.stride;
  const std::ptrdiff_t cs = whole->c_stride;
  const double* const a11 = whole->a.x;
  const double* const a12 = a11 + half;
  const double* const a21 = a11 + half * as;
  const double* const a22 = a21 + half;
  const double* const b11 = whole->b.x;
  const double* const b12 = b11 + half;
  const double* const b21 = b11 + half * bs;
  const double* const b22 = b21 + half;
  double* const c11 = whole->c;
  double* const c12 = c11 + half;
  double* const c21 = c11 + half * cs;
  double* const c22 = c21 + half;
  double* const dense = whole->work;

  parts[0] = {{a11, a22, 1, as}, {b11, b22, 1, bs}, dense, half, nullptr};
  parts[1] = {{a21, a22, 1, as}, {b11, nullptr, 0, bs}, c21, cs, nullptr};
  parts[2] = {{a11, nullptr, 0, as}, {b12, b22, -1, bs}, c12, cs, nullptr};
  parts[3] = {{a22, nullptr, 0, as}, {b21, b11, -1, bs}, dense + area, half, nullptr};
  parts[4] = {{a11, a12, 1, as}, {b22, nullptr, 0, bs}, dense + 2 * area, half, nullptr};
  parts[5] = {{a21, a11, -1, as}, {b11, b12, 1, bs}, c22, cs, nullptr};
  parts[6] = {{a12, a22, -1, as}, {b21, b22, 1, bs}, c11, cs, nullptr};
  if (half > strassen_base) {
    double* work = dense + 3 * area;
    for (strassen_product* part = parts; part != parts + 7; ++part) {
      part->work = work;
      work += (part->a.terms() + part->b.terms() - 2) * area + strassen_work(half);
    }
  }
  return {dense, dense + area, dense + 2 * area, c11, c12, c21, c22, cs};
}

BENCH_TASK void strassen_multiply(const strassen_product* product, std::ptrdiff_t n);

BENCH_TASK void strassen_divide(const strassen_product* whole, std::ptrdiff_t n) {
  const std::ptrdiff_t half = n / 2;
  strassen_product parts[7];
  const strassen_quadrants quadrants = strassen_split(whole, n, parts);
  // Forks name a pointer, since some runtimes copy what they name.
  const strassen_product* const part = parts;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, strassen_multiply, part, half);
  BENCH_FORK_VOID(s, strassen_multiply, part + 1, half);
  BENCH_FORK_VOID(s, strassen_multiply, part + 2, half);
  BENCH_FORK_VOID(s, strassen_multiply, part + 3, half);
  BENCH_FORK_VOID(s, strassen_multiply, part + 4, half);
  BENCH_FORK_VOID(s, strassen_multiply, part + 5, half);
  strassen_multiply(part + 6, half);
  BENCH_JOIN(s);
  strassen_combine(&quadrants, 0, half, half);
}

BENCH_TASK void strassen_multiply(const strassen_product* product, std::ptrdiff_t n) {
  if (n == strassen_base) {
    strassen_multiply_base(product);
    return;
  }
  const strassen_sum* const a = &product->a;
  const strassen_sum* const b = &product->b;
  double* const a_sum = product->work;
  double* const b_sum = a_sum + (a->terms() - 1) * n * n;
  strassen_product whole = *product;
  whole.work = b_sum + (b->terms() - 1) * n * n;
  if (a->terms() == 2)
    whole.a = {a_sum, nullptr, 0, n};
  if (b->terms() == 2)
    whole.b = {b_sum, nullptr, 0, n};
  if (a->terms() == 2 && b->terms() == 2) {
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, strassen_add, a, a_sum, 0, n, n);
    strassen_add(b, b_sum, 0, n, n);
    BENCH_JOIN(s);
  } else if (a->terms() == 2) {
    strassen_add(a, a_sum, 0, n, n);
  } else if (b->terms() == 2) {
    strassen_add(b, b_sum, 0, n, n);
  }
  strassen_divide(&whole, n);
}

class strassen_problem {
public:
  static constexpr const char* name = "strassen";

  explicit strassen_problem(size chosen)
      : n_(chosen == size::test    ? 256
           : chosen == size::quick ? 1024
                                   : 4096) {}

  long n() const { return static_cast<long>(n_); }
  std::uint64_t forks() const { return forks_of(n_); }

  // Entries from 0 to 7: sums of products stay integers that a double holds exactly, whatever the
  // order.
  void prepare() {
    random_numbers random(1969);
    const auto entries = static_cast<std::size_t>(n_ * n_);
    a_.resize(entries);
    b_.resize(entries);
    for (double& x : a_)
      x = static_cast<double>(random.next() >> 61);
    for (double& x : b_)
      x = static_cast<double>(random.next() >> 61);
    c_.assign(entries, 0.0);
    work_.assign(static_cast<std::size_t>(strassen_work(n_)), 0.0);
  }

  void compute() {
    const strassen_product whole{
        {a_.data(), nullptr, 0, n_}, {b_.data(), nullptr, 0, n_}, c_.data(), n_, work_.data()};
    strassen_multiply(&whole, n_);
  }

  bool verify() const {
    const auto n = static_cast<std::size_t>(n_);
    const auto entry_of = [n](const std::vector<double>& matrix) {
      return [n, &matrix](std::size_t i, std::size_t j) { return matrix[i * n + j]; };
    };
    return is_product(n, n, n, entry_of(a_), entry_of(b_), entry_of(c_));
  }

protected:
  // A fork for each halving of n rows, down to 64 x 64 elements.
  static std::uint64_t forks_of_rows(std::ptrdiff_t n) {
    return static_cast<std::uint64_t>(n * n / (strassen_base * strassen_base)) - 1;
  }

  // Six forks and the combination's; of the seven products, three make two sums with a fork
  // between, the others one.
  static std::uint64_t forks_of(std::ptrdiff_t n) {
    if (n == strassen_base)
      return 0;
    const std::ptrdiff_t half = n / 2;
    const std::uint64_t rows = forks_of_rows(half);
    const std::uint64_t sums = half == strassen_base ? 0 : 3 + 10 * rows;
    return 6 + rows + sums + 7 * forks_of(half);
  }

  std::ptrdiff_t n_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
  std::vector<double> work_;
};

} // namespace bench
