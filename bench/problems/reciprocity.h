// SPDX-License-Identifier: MIT
// reciprocity: functions compiled by others call functions that fork. Serial-parallel reciprocity
// (cilk-m-pact10, section 1) shown rather than said; not one of the papers' problems.
//
// Several arrays are sorted in parallel, each by libc's qsort with a comparator that forks, and a
// walk written in C (foreign.c) calls a function that forks and calls the walk again. So foreign
// frames lie below, above and between frames that are stolen. Both have enough work that thieves
// come.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "bench/harness.h"
#include "bench/random.h"
#include "bench/unit.h"

extern "C" long foreign_walk(long first, long last, long (*visit)(long, long, void*),
                             void* context);

namespace bench {

// A key that takes a while to compute. Different values have different keys.
BENCH_TASK std::uint64_t key_of(std::uint32_t value) {
  constexpr long units = 20;
  spinning::units(units);
  return mixed(value);
}

inline int order_of(std::uint64_t left, std::uint64_t right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

extern "C" inline int compare_in_parallel(const void* a, const void* b) {
  const std::uint32_t left_value = *static_cast<const std::uint32_t*>(a);
  const std::uint32_t right_value = *static_cast<const std::uint32_t*>(b);
  std::uint64_t left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, key_of, left_value);
  const std::uint64_t right = key_of(right_value);
  BENCH_JOIN(s);
  return order_of(left, right);
}

BENCH_TASK void sort_by_qsort(std::uint32_t* first, std::size_t count) {
  std::qsort(first, count, sizeof(*first), compare_in_parallel);
}

extern "C" inline long visit_in_parallel(long first, long last, void* context);

BENCH_TASK long walk(long first, long last, void* context) {
  return foreign_walk(first, last, visit_in_parallel, context);
}

// The sum of the numbers from `first` to before `last`: by a walk over each half.
extern "C" inline long visit_in_parallel(long first, long last, void* context) {
  if (last - first == 1) {
    constexpr long units = 200;
    spinning::units(units);
    return first;
  }
  const long middle = first + (last - first) / 2;
  long left = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, left, walk, first, middle, context);
  const long right = walk(middle, last, context);
  BENCH_JOIN(s);
  return left + right;
}

class reciprocity_problem {
public:
  static constexpr const char* name = "reciprocity";

  explicit reciprocity_problem(size chosen) : count_(chosen == size::test ? 100 : 1000) {}

  long n() const { return static_cast<long>(count_); }
  std::uint64_t forks() const { return arrays + comparisons_ + count_ - 1; }

  void prepare() {
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

  void compute() {
    sort_all(values_.data());
    sum_ = walk(0, static_cast<long>(count_), nullptr);
  }

  bool verify() const {
    const long n = static_cast<long>(count_);
    return values_ == expected_ && sum_ == n * (n - 1) / 2;
  }

private:
  static constexpr std::size_t arrays = 4;

  BENCH_TASK void sort_all(std::vector<std::uint32_t>* values) {
    BENCH_SCOPE(s);
    for (std::size_t i = 0; i < arrays; ++i) {
      BENCH_FORK_VOID(s, sort_by_qsort, values[i].data(), values[i].size());
    }
    BENCH_JOIN(s);
  }

  // How often qsort compares is its own business; the same for the same input.
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
  long sum_ = -1;
};

} // namespace bench
