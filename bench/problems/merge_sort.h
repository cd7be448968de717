// SPDX-License-Identifier: MIT
// merge_sort: sorts random 32-bit integers, a fork for the lower half; 2^18 of them in Manticore's
// paper (manticore-icfp08, Table 1). `quick` has more of them, to take about a second.
//
// The paper does not say how it merges, but its speed-up does: with serial merges n log n work
// would have a span of 2 n, which bounds the speed-up of 2^18 keys by 9, and by about 4.5 on eight
// processors, where the paper has 7.4. So merges fork too: a merge halves what it writes, a fork
// for the lower half, and a binary search finds which keys of the two runs belong there. Parts are
// of the same size whatever the keys are (those of cilksort are not).
//
// Up to 32 keys are sorted by insertion, with about 250 comparisons; up to 512 are merged serially.
// To divide those would take a search of nine steps for half as many keys and more, and a fork.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/random.h"
#include "bench/serial_sort.h"

namespace bench {

inline constexpr std::ptrdiff_t merge_sort_insertion_most = 32;
inline constexpr std::ptrdiff_t merge_sort_serial_most = 512;

// How many of the first `rank` keys of two runs, once they are merged, come from x.
BENCH_BASE_CASE inline std::ptrdiff_t
merge_sort_share(const std::int32_t* x, std::ptrdiff_t x_count, const std::int32_t* y,
                 std::ptrdiff_t y_count, std::ptrdiff_t rank) {
  std::ptrdiff_t least = std::max<std::ptrdiff_t>(0, rank - y_count);
  std::ptrdiff_t most = std::min(rank, x_count);
  while (least < most) {
    const std::ptrdiff_t middle = least + (most - least) / 2;
    if (x[middle] < y[rank - middle - 1])
      least = middle + 1;
    else
      most = middle;
  }
  return least;
}

BENCH_TASK void merge_sort_merge(const std::int32_t* x, std::ptrdiff_t x_count,
                                 const std::int32_t* y, std::ptrdiff_t y_count, std::int32_t* out) {
  const std::ptrdiff_t count = x_count + y_count;
  if (count <= merge_sort_serial_most) {
    merge_serially(x, x + x_count, y, y + y_count, out);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  const std::ptrdiff_t x_half = merge_sort_share(x, x_count, y, y_count, half);
  const std::ptrdiff_t y_half = half - x_half;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, merge_sort_merge, x, x_half, y, y_half, out);
  merge_sort_merge(x + x_half, x_count - x_half, y + y_half, y_count - y_half, out + half);
  BENCH_JOIN(s);
}

BENCH_BASE_CASE inline void merge_sort_base(std::int32_t* keys, std::int32_t* scratch,
                                            std::ptrdiff_t count, bool to_scratch) {
  sort_by_insertion(keys, count);
  if (to_scratch)
    std::copy(keys, keys + count, scratch);
}

// Sorts `count` keys, in place or to `scratch`, which has room for as many. The halves are sorted
// to where the merge does not write.
BENCH_TASK void merge_sort(std::int32_t* keys, std::int32_t* scratch, std::ptrdiff_t count,
                           bool to_scratch) {
  if (count <= merge_sort_insertion_most) {
    merge_sort_base(keys, scratch, count, to_scratch);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  {
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, merge_sort, keys, scratch, half, !to_scratch);
    merge_sort(keys + half, scratch + half, count - half, !to_scratch);
    BENCH_JOIN(s);
  }
  const std::int32_t* const from = to_scratch ? keys : scratch;
  merge_sort_merge(from, half, from + half, count - half, to_scratch ? scratch : keys);
}

class merge_sort_problem {
public:
  static constexpr const char* name = "merge_sort";

  explicit merge_sort_problem(size chosen)
      : n_(std::ptrdiff_t{1} << (chosen == size::test    ? 14
                                 : chosen == size::quick ? 23
                                                         : 18)) {}

  long n() const { return n_; }
  std::uint64_t forks() const { return forks_to_sort(n_); }

  void prepare() {
    keys_.resize(static_cast<std::size_t>(n_));
    random_numbers random(2008);
    for (std::int32_t& key : keys_)
      key = static_cast<std::int32_t>(random.next() >> 32);
    hashes_before_ = sum_of_hashes(keys_);
    scratch_.assign(keys_.size(), 0);
  }

  void compute() { merge_sort(keys_.data(), scratch_.data(), n_, false); }

  bool verify() const {
    return std::is_sorted(keys_.begin(), keys_.end()) && sum_of_hashes(keys_) == hashes_before_;
  }

protected:
  static std::uint64_t forks_to_merge(std::ptrdiff_t count) {
    if (count <= merge_sort_serial_most)
      return 0;
    return 1 + forks_to_merge(count / 2) + forks_to_merge(count - count / 2);
  }

  static std::uint64_t forks_to_sort(std::ptrdiff_t count) {
    if (count <= merge_sort_insertion_most)
      return 0;
    return 1 + forks_to_sort(count / 2) + forks_to_sort(count - count / 2) + forks_to_merge(count);
  }

  std::ptrdiff_t n_;
  std::vector<std::int32_t> keys_;
  std::vector<std::int32_t> scratch_;
  std::uint64_t hashes_before_ = 0;
};

} // namespace bench
