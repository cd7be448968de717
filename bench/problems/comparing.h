// SPDX-License-Identifier: MIT
// comparing: libc's qsort sorts with a comparator that forks, and four arrays are sorted at a time.
// So frames that others have compiled lie above and below frames that are stolen: serial-parallel
// reciprocity (cilk-m-pact10, section 1). Made for the study `strategies`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bench/harness.h"
#include "bench/pause.h"
#include "bench/random.h"

namespace bench {

// A key that takes a while to compute, so that a thief arrives. Different values have different
// keys.
BENCH_TASK std::uint64_t key_of(std::uint32_t value) {
  pause_for(20);
  return mixed(value);
}

inline int order_of(std::uint64_t left, std::uint64_t right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

BENCH_TASK int compare_in_parallel(std::uint32_t left_value, std::uint32_t right_value) {
  std::uint64_t left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, key_of, left_value);
  const std::uint64_t right = key_of(right_value);
  BENCH_JOIN(s);
  return order_of(left, right);
}

BENCH_TASK void sort_by_qsort(std::uint32_t* first, std::size_t count) {
  std::qsort(first, count, sizeof(*first), [](const void* a, const void* b) {
    return compare_in_parallel(*static_cast<const std::uint32_t*>(a),
                               *static_cast<const std::uint32_t*>(b));
  });
}

class comparing_problem {
public:
  static constexpr const char* name = "comparing";

  explicit comparing_problem(size chosen) : count_(chosen == size::test ? 20 : 100) {}

  long n() const { return static_cast<long>(count_); }
  std::uint64_t forks() const { return arrays + comparisons_; }

  void prepare() {
    make_pauses_exact();
    random_numbers random(2010);
    for (std::vector<std::uint32_t>& values : values_) {
      values.resize(count_);
      for (std::uint32_t& value : values)
        value = static_cast<std::uint32_t>(random.next() >> 32);
    }
    comparisons_ = 0;
    expected_ = values_;
    for (std::vector<std::uint32_t>& values : expected_) {
      comparisons_ += comparisons_of(values);
      std::sort(values.begin(), values.end(), [](auto a, auto b) { return mixed(a) < mixed(b); });
    }
  }
  void compute() { sort_all(values_.data()); }
  bool verify() const { return values_ == expected_; }

private:
  static constexpr std::size_t arrays = 4;

  BENCH_TASK void sort_all(std::vector<std::uint32_t>* values) {
    BENCH_SCOPE(s);
    for (std::size_t i = 0; i < arrays; ++i) {
      BENCH_FORK_VOID(s, sort_by_qsort, values[i].data(), values[i].size());
    }
    BENCH_JOIN(s);
  }

  // qsort compares the same input equally often.
  static std::uint64_t comparisons_of(std::vector<std::uint32_t> values) {
    static std::uint64_t counted;
    counted = 0;
    std::qsort(values.data(), values.size(), sizeof(values[0]), [](const void* a, const void* b) {
      ++counted;
      return order_of(mixed(*static_cast<const std::uint32_t*>(a)),
                      mixed(*static_cast<const std::uint32_t*>(b)));
    });
    return counted;
  }

  std::size_t count_;
  std::array<std::vector<std::uint32_t>, arrays> values_;
  std::array<std::vector<std::uint32_t>, arrays> expected_;
  std::uint64_t comparisons_ = 0;
};

} // namespace bench
