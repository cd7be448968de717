// SPDX-License-Identifier: MIT
// Random numbers that no schedule changes: each strand has a stream of its own, all of one seed.
//
//     nopal::random_stream random{seed};
//     s.fork(grow, left, random.split());              // the child's stream
//     grow(right, random.split());
//     nopal::for_index(0, n, [&](int i) {
//       nopal::random_stream own = random.at(i);       // the stream of index i
//       x[i] = std::normal_distribution<>{}(own);
//     });
//
// What a stream gives depends on the seed and on the splits that led to the stream: on its
// pedigree. Where it is split is written in the program, so the numbers are the same for any number
// of workers, for every schedule, and in the serial elision. A copy of a stream gives the same
// numbers once more: what needs others is given a split.
//
// Numbers, and the names of further streams, are blocks of Philox 2x64-10, a cipher of a counter:
// no number needs the one before. A stream's name is a block of its parent's, 128 bits.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

struct random_block {
  std::uint64_t first;
  std::uint64_t second;
  constexpr bool operator==(const random_block&) const noexcept = default;
};

// For each key a permutation of the 2^128 counters.
constexpr random_block philox(std::uint64_t key, random_block counter) noexcept {
  __extension__ typedef unsigned __int128 wide;
  for (int round = 0; round < 10; ++round) {
    const wide product = wide{counter.first} * 0xd2b74407b1ce6e93u;
    counter = {static_cast<std::uint64_t>(product >> 64) ^ key ^ counter.second,
               static_cast<std::uint64_t>(product)};
    key += 0x9e3779b97f4a7c15u;
  }
  return counter;
}

} // namespace detail

/// Random numbers, and further streams. It is a uniform random bit generator, for the distributions
/// and for std::shuffle.
/// @par Threads
/// `at` any number of strands at a time; the rest one strand at a time.
/// @par Cost
/// 32 bytes. A number takes some 60 instructions (std::mt19937_64: 40), a split or `at` some 115.
/// @par Paper
/// Leiserson, Schardl, Sukha (PPoPP 2012), whose pedigrees the program writes down here; Salmon,
/// Moraes, Dror, Shaw (SC 2011).
class NOPAL_TYPE random_stream {
public:
  using result_type = std::uint64_t;

  explicit constexpr random_stream(std::uint64_t seed) noexcept : name_{seed, 0} {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }

  /// The next number.
  constexpr result_type operator()() noexcept {
    if (next_ % 2 != 0) {
      ++next_;
      return spare_;
    }
    const detail::random_block both = block(0, next_ / 2);
    ++next_;
    spare_ = both.second;
    return both.first;
  }

  /// A new stream, another one at each call. No two of them are the same.
  [[nodiscard]] constexpr random_stream split() noexcept {
    const std::uint64_t rank = next_ / 2;
    next_ += 2;
    return random_stream{block(0x6a09e667f3bcc908u, rank)};
  }

  /// The stream of this index, the same one at each call. Those of two indices are not the same,
  /// nor is one that `split` gives.
  [[nodiscard]] constexpr random_stream at(std::uint64_t index) const noexcept {
    return random_stream{block(0xbb67ae8584caa73bu, index)};
  }

  constexpr bool operator==(const random_stream&) const noexcept = default;

private:
  explicit constexpr random_stream(detail::random_block name) noexcept : name_{name} {}

  // What a block is for is a part of the key.
  constexpr detail::random_block block(std::uint64_t purpose, std::uint64_t number) const noexcept {
    return detail::philox(name_.first ^ purpose, {number, name_.second});
  }

  detail::random_block name_;
  std::uint64_t next_ = 0; // twice the next block; odd while the spare number is left
  std::uint64_t spare_ = 0;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
