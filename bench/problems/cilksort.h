// SPDX-License-Identifier: MIT
// cilksort: merge sort of random 32-bit integers, parallel in its merges too; 10^8 of them in
// Cilk-M's paper (cilk-m-pact10, Figure 7).
//
// Four quarters are sorted (three forks and a call), merged in two pairs (a fork and a call), and
// the pairs are merged. A merge divides its longer run in the middle and the other one where that
// element belongs, found by binary search, with a fork for the lower parts. Below 2048 elements
// sorts and merges are serial: quicksort with the median of three down to 20, then insertion sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/random.h"
#include "bench/serial_sort.h"

namespace bench {

inline constexpr std::ptrdiff_t cilksort_serial_below = 2048;
inline constexpr std::ptrdiff_t cilksort_insertion_below = 20;

BENCH_BASE_CASE inline void cilksort_serially(std::int32_t* first, std::ptrdiff_t count) {
  while (count >= cilksort_insertion_below) {
    const std::int32_t low = std::min(first[0], first[count - 1]);
    const std::int32_t high = std::max(first[0], first[count - 1]);
    const std::int32_t pivot = std::clamp(first[count / 2], low, high);
    std::int32_t* left = first;
    std::int32_t* right = first + count - 1;
    while (left <= right) {
      while (*left < pivot)
        ++left;
      while (pivot < *right)
        --right;
      if (left <= right)
        std::swap(*left++, *right--);
    }
    cilksort_serially(first, right - first + 1);
    count -= left - first;
    first = left;
  }
  sort_by_insertion(first, count);
}

BENCH_TASK void cilksort_merge(const std::int32_t* x, std::ptrdiff_t x_count, const std::int32_t* y,
                               std::ptrdiff_t y_count, std::int32_t* out) {
  if (x_count + y_count < cilksort_serial_below) {
    merge_serially(x, x + x_count, y, y + y_count, out);
    return;
  }
  if (x_count < y_count) {
    std::swap(x, y);
    std::swap(x_count, y_count);
  }
  const std::ptrdiff_t x_half = x_count / 2;
  const std::ptrdiff_t y_half = std::lower_bound(y, y + y_count, x[x_half]) - y;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, cilksort_merge, x, x_half, y, y_half, out);
  cilksort_merge(x + x_half, x_count - x_half, y + y_half, y_count - y_half, out + x_half + y_half);
  BENCH_JOIN(s);
}

// Sorts `count` elements in place; `scratch` has room for as many.
BENCH_TASK void cilksort(std::int32_t* first, std::int32_t* scratch, std::ptrdiff_t count) {
  if (count < cilksort_serial_below) {
    cilksort_serially(first, count);
    return;
  }
  const std::ptrdiff_t quarter = count / 4;
  const std::ptrdiff_t half = 2 * quarter;
  const std::ptrdiff_t rest = count - half - quarter;
  {
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, cilksort, first, scratch, quarter);
    BENCH_FORK_VOID(s, cilksort, first + quarter, scratch + quarter, quarter);
    BENCH_FORK_VOID(s, cilksort, first + half, scratch + half, quarter);
    cilksort(first + half + quarter, scratch + half + quarter, rest);
    BENCH_JOIN(s);
  }
  {
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, cilksort_merge, first, quarter, first + quarter, quarter, scratch);
    cilksort_merge(first + half, quarter, first + half + quarter, rest, scratch + half);
    BENCH_JOIN(s);
  }
  cilksort_merge(scratch, half, scratch + half, count - half, first);
}

class cilksort_problem {
public:
  static constexpr const char* name = "cilksort";

  explicit cilksort_problem(size chosen)
      : known_(chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper) {}

  long n() const { return known_.n; }
  std::uint64_t forks() const { return known_.forks; }

  void prepare() {
    values_.resize(static_cast<std::size_t>(known_.n));
    random_numbers random(2010);
    for (std::int32_t& v : values_)
      v = static_cast<std::int32_t>(random.next() >> 32);
    hashes_before_ = sum_of_hashes(values_);
    scratch_.assign(values_.size(), 0);
  }

  void compute() {
    cilksort(values_.data(), scratch_.data(), static_cast<std::ptrdiff_t>(values_.size()));
  }

  bool verify() const {
    return std::is_sorted(values_.begin(), values_.end()) &&
           sum_of_hashes(values_) == hashes_before_;
  }

protected:
  // The input is fixed, and so is where each merge divides its runs; tests/bench/forks_test.cc
  // counts them again.
  struct known {
    long n;
    std::uint64_t forks;
  };
  static constexpr known of_test{100'000, 405};
  static constexpr known of_quick{10'000'000, 120'149};
  static constexpr known of_paper{100'000'000, 1'070'421};

  known known_;
  std::vector<std::int32_t> values_;
  std::vector<std::int32_t> scratch_;
  std::uint64_t hashes_before_ = 0;
};

} // namespace bench
