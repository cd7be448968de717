// SPDX-License-Identifier: MIT
// quicksort: sorts random 32-bit integers, a fork for the left part; 10^8 of them in the papers.
//
// Hoare's partition around the middle element, down to parts of fewer than two: no cut-off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

BENCH_TASK void quicksort(std::int32_t* first, std::ptrdiff_t count) {
  if (count < 2)
    return;
  const std::int32_t pivot = first[count / 2];
  std::int32_t* left = first;
  std::int32_t* right = first + count - 1;
  while (left <= right) {
    if (*left < pivot) {
      ++left;
    } else if (*right > pivot) {
      --right;
    } else {
      const std::int32_t kept = *left;
      *left++ = *right;
      *right-- = kept;
    }
  }
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, quicksort, first, right - first + 1);
  quicksort(left, first + count - left);
  BENCH_JOIN(s);
}

class quicksort_problem {
public:
  static constexpr const char* name = "quicksort";

  explicit quicksort_problem(size chosen)
      : known_(chosen == size::test    ? of_test
               : chosen == size::quick ? of_quick
                                       : of_paper) {}

  long n() const { return known_.n; }
  std::uint64_t forks() const { return known_.forks; }

  void prepare() {
    values_.resize(static_cast<std::size_t>(known_.n));
    random_numbers random(2016);
    for (std::int32_t& v : values_)
      v = static_cast<std::int32_t>(random.next() >> 32);
    hashes_before_ = sum_of_hashes(values_);
  }

  void compute() { quicksort(values_.data(), static_cast<std::ptrdiff_t>(values_.size())); }

  bool verify() const {
    for (std::size_t i = 1; i < values_.size(); ++i) {
      if (values_[i - 1] > values_[i])
        return false;
    }
    return sum_of_hashes(values_) == hashes_before_;
  }

protected:
  // The input is fixed, and so is the number of parts with two elements or more;
  // tests/bench/forks_test.cc counts them again.
  struct known {
    long n;
    std::uint64_t forks;
  };
  static constexpr known of_test{100'000, 89'058};
  static constexpr known of_quick{10'000'000, 8'903'667};
  static constexpr known of_paper{100'000'000, 88'985'844};

  known known_;
  std::vector<std::int32_t> values_;
  std::uint64_t hashes_before_ = 0;
};

} // namespace bench
