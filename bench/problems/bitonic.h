// SPDX-License-Identifier: MIT
// bitonic: sorts random 32-bit integers by Batcher's bitonic network; 2^18 of them in Manticore's
// paper (manticore-icfp08, Table 1). `quick` has more of them, to take about a second.
//
// A sort sorts one half upwards and the other downwards, a fork for the first, and merges the two.
// A merge exchanges keys half its length apart, then merges both halves, a fork for the lower. A
// pass of exchanges goes by halves as well, a fork for the lower.
//
// A strand has 1024 exchanges at least: a pass of so many pairs, or a merge or a sort of the 1024
// keys that fit beside others into the smallest cache. That is some thousands of instructions,
// where a fork takes tens, and 2^18 keys still have 128 strands in each pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/base_case.h"
#include "bench/harness.h"
#include "bench/random.h"

namespace bench {

inline constexpr std::ptrdiff_t bitonic_serial_most = 1024;

// Puts each of the keys at `low` and the one `apart` from it in order.
inline void bitonic_exchange_pairs(std::int32_t* low, std::ptrdiff_t apart, std::ptrdiff_t pairs,
                                   bool upwards) {
  std::int32_t* const first = upwards ? low : low + apart;
  std::int32_t* const second = upwards ? low + apart : low;
  for (std::ptrdiff_t i = 0; i < pairs; ++i) {
    // Without branches: whether they must be exchanged cannot be foreseen.
    const std::int32_t a = first[i];
    const std::int32_t b = second[i];
    first[i] = b < a ? b : a;
    second[i] = b < a ? a : b;
  }
}

BENCH_BASE_CASE inline void bitonic_exchange_serially(std::int32_t* low, std::ptrdiff_t apart,
                                                      std::ptrdiff_t pairs, bool upwards) {
  bitonic_exchange_pairs(low, apart, pairs, upwards);
}

BENCH_BASE_CASE inline void bitonic_merge_serially(std::int32_t* keys, std::ptrdiff_t count,
                                                   bool upwards) {
  for (std::ptrdiff_t apart = count / 2; apart > 0; apart /= 2) {
    for (std::ptrdiff_t low = 0; low < count; low += 2 * apart)
      bitonic_exchange_pairs(keys + low, apart, apart, upwards);
  }
}

BENCH_BASE_CASE inline void bitonic_sort_serially(std::int32_t* keys, std::ptrdiff_t count,
                                                  bool upwards) {
  for (std::ptrdiff_t part = 2; part < count; part *= 2) {
    for (std::ptrdiff_t first = 0; first < count; first += part)
      bitonic_merge_serially(keys + first, part, (first / part) % 2 == 0);
  }
  bitonic_merge_serially(keys, count, upwards);
}

BENCH_TASK void bitonic_exchange(std::int32_t* low, std::ptrdiff_t apart, std::ptrdiff_t pairs,
                                 bool upwards) {
  if (pairs <= bitonic_serial_most) {
    bitonic_exchange_serially(low, apart, pairs, upwards);
    return;
  }
  const std::ptrdiff_t half = pairs / 2;
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, bitonic_exchange, low, apart, half, upwards);
  bitonic_exchange(low + half, apart, half, upwards);
  BENCH_JOIN(s);
}

BENCH_TASK void bitonic_merge(std::int32_t* keys, std::ptrdiff_t count, bool upwards) {
  if (count <= bitonic_serial_most) {
    bitonic_merge_serially(keys, count, upwards);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  bitonic_exchange(keys, half, half, upwards);
  BENCH_SCOPE(s);
  BENCH_FORK_VOID(s, bitonic_merge, keys, half, upwards);
  bitonic_merge(keys + half, half, upwards);
  BENCH_JOIN(s);
}

// Sorts a power of two of keys in place.
BENCH_TASK void bitonic_sort(std::int32_t* keys, std::ptrdiff_t count, bool upwards) {
  if (count <= bitonic_serial_most) {
    bitonic_sort_serially(keys, count, upwards);
    return;
  }
  const std::ptrdiff_t half = count / 2;
  {
    BENCH_SCOPE(s);
    BENCH_FORK_VOID(s, bitonic_sort, keys, half, true);
    bitonic_sort(keys + half, half, false);
    BENCH_JOIN(s);
  }
  bitonic_merge(keys, count, upwards);
}

class bitonic_problem {
public:
  static constexpr const char* name = "bitonic";

  explicit bitonic_problem(size chosen)
      : n_(std::ptrdiff_t{1} << (chosen == size::test    ? 14
                                 : chosen == size::quick ? 22
                                                         : 18)) {}

  long n() const { return n_; }
  std::uint64_t forks() const { return forks_to_sort(n_); }

  void prepare() {
    keys_.resize(static_cast<std::size_t>(n_));
    random_numbers random(1968);
    for (std::int32_t& key : keys_)
      key = static_cast<std::int32_t>(random.next() >> 32);
    hashes_before_ = sum_of_hashes(keys_);
  }

  void compute() { bitonic_sort(keys_.data(), n_, true); }

  bool verify() const {
    return std::is_sorted(keys_.begin(), keys_.end()) && sum_of_hashes(keys_) == hashes_before_;
  }

protected:
  // One for each but one of a pass's strands.
  static std::uint64_t forks_to_exchange(std::ptrdiff_t pairs) {
    return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(pairs / bitonic_serial_most, 1) - 1);
  }

  static std::uint64_t forks_to_merge(std::ptrdiff_t count) {
    if (count <= bitonic_serial_most)
      return 0;
    return forks_to_exchange(count / 2) + 1 + 2 * forks_to_merge(count / 2);
  }

  static std::uint64_t forks_to_sort(std::ptrdiff_t count) {
    if (count <= bitonic_serial_most)
      return 0;
    return 1 + 2 * forks_to_sort(count / 2) + forks_to_merge(count);
  }

  std::ptrdiff_t n_;
  std::vector<std::int32_t> keys_;
  std::uint64_t hashes_before_ = 0;
};

} // namespace bench
