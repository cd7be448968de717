// SPDX-License-Identifier: MIT
// Distribution of elements over buckets, each of which lies between two splitters.
//
// Where values repeat, each splitter has a bucket of its own for the elements that are equal to it,
// which need no further comparison. Elements of a bucket keep their order. A first pass over blocks
// notes each element's bucket and counts, a second one moves each element to its place. Neither has
// a branch that depends on the data.
// Paper: super scalar sample sort (ESA 2004); its buckets of equal elements are those of ESA 2017.
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/algorithms/memory.h"
#include "nopal/algorithms/merge.h"
#include "nopal/config.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

inline constexpr unsigned most_levels = 7;
inline constexpr std::size_t most_splitters = (1 << most_levels) - 1;

// The search tree of the splitters: the children of node i are 2i and 2i + 1. Copies of the largest
// splitter fill it up. The elements live as long as the tree.
template <class T, class Less> class splitters {
public:
  using held = stand_in<T>;
  // Distinct splitters, in order; at least one. `repeated`: equal elements get buckets.
  splitters(const held* from, std::size_t count, bool repeated, const Less& less)
      : levels_(static_cast<unsigned>(std::bit_width(count))), repeated_(repeated), less_(less) {
    const std::size_t nodes = std::size_t{1} << levels_;
    for (std::size_t i = 0; i < nodes; ++i)
      sorted_[i] = from[std::min(i, count - 1)];
    for (std::size_t i = 1; i < nodes; ++i) {
      const unsigned level = static_cast<unsigned>(std::bit_width(i)) - 1;
      const std::size_t in_level = i - (std::size_t{1} << level);
      tree_[i] = sorted_[((2 * in_level + 1) << (levels_ - 1 - level)) - 1];
    }
  }

  std::size_t buckets() const noexcept { return std::size_t{repeated_ ? 2u : 1u} << levels_; }
  // Whether all elements of the bucket are equal. The last one is behind all splitters.
  bool equal(std::size_t bucket) const noexcept {
    return repeated_ && bucket % 2 != 0 && bucket != buckets() - 1;
  }

  // What is equal to the elements of such a bucket.
  const T& value_of(std::size_t bucket) const noexcept {
    return standing_for<T>(sorted_[bucket / 2]);
  }

  // Notes the bucket of each element, and counts.
  template <class It>
  void classify(It first, std::size_t count, std::uint8_t* bucket, std::size_t* counts) const {
    if (repeated_)
      classify<true>(first, count, bucket, counts);
    else
      classify<false>(first, count, bucket, counts);
  }

private:
  static constexpr bool unrolled = compared_alone<T>;

  // The number of splitters below an element is made of the answers, without a branch. Elements
  // that are not compared alone go down the tree side by side.
  template <bool Repeated, unsigned Levels = unrolled ? 1 : most_levels, class It>
  void classify(It first, std::size_t count, std::uint8_t* bucket, std::size_t* counts) const {
    if constexpr (Levels < most_levels)
      if (levels_ != Levels)
        return classify<Repeated, Levels + 1>(first, count, bucket, counts);
    const unsigned levels = unrolled ? Levels : levels_;
    constexpr std::size_t at_once = unrolled ? 1 : 16;
    for (std::size_t i = 0; i < count; i += at_once) {
      const std::size_t some = unrolled ? 1 : std::min(at_once, count - i);
      std::size_t node[at_once];
      for (std::size_t k = 0; k < some; ++k)
        node[k] = 1;
#pragma GCC unroll 8
      for (unsigned level = 0; level < levels; ++level)
        for (std::size_t k = 0; k < some; ++k)
          node[k] =
              2 * node[k] + (less_(standing_for<T>(tree_[node[k]]), *at(first, i + k)) ? 1 : 0);
      for (std::size_t k = 0; k < some; ++k) {
        node[k] -= std::size_t{1} << levels;
        if constexpr (Repeated)
          node[k] =
              2 * node[k] + (less_(*at(first, i + k), standing_for<T>(sorted_[node[k]])) ? 0 : 1);
        bucket[i + k] = static_cast<std::uint8_t>(node[k]);
        ++counts[node[k]];
      }
    }
  }

  unsigned levels_;
  bool repeated_;
  const Less& less_;
  held tree_[most_splitters + 1];
  held sorted_[most_splitters + 1];
};

// Moves all to `to`, and calls use(bucket, begin, end) for each bucket, possibly at the same time.
// Where each bucket holds copies of its splitter, nothing is moved. Where a use throws, or the
// strand is cancelled after the moves, undo(bucket, begin, end, used) is called for each bucket in
// turn.
// False: there was no memory, and nothing happened.
template <class From, class To, class Less, class Use, class Undo>
bool distribute(From from, To to, std::size_t count,
                const splitters<std::iter_value_t<From>, Less>& over, const Use& use,
                const Undo& undo) {
  const blocks all{count, std::clamp<std::size_t>(count >> 14, 1, 512)};
  const std::size_t buckets = over.buckets();
  const memory<std::uint8_t> chosen{count, std::nothrow};
  const std::unique_ptr<std::size_t[]> places{new (std::nothrow)
                                                  std::size_t[(all.number + 1) * buckets]{}};
  if (chosen.get() == nullptr || !places)
    return false;
  for_blocks(all, [&](std::size_t block) {
    const std::size_t begin = all.begin(block);
    over.classify(at(from, begin), all.end(block) - begin, chosen.get() + begin,
                  &places[block * buckets]);
  });
  // Behind the blocks: where each bucket begins, then where the next block's elements of it go.
  std::size_t* const ends = &places[all.number * buckets];
  for (std::size_t i = 0; i < all.number * buckets; ++i)
    ends[i & (buckets - 1)] += places[i];
  for (std::size_t bucket = 0, sum = 0; bucket < buckets; ++bucket)
    sum += std::exchange(ends[bucket], sum);
  for (std::size_t i = 0; i < all.number * buckets; ++i)
    ends[i & (buckets - 1)] += std::exchange(places[i], ends[i & (buckets - 1)]);
  const auto begin_of = [ends](std::size_t bucket) { return bucket == 0 ? 0 : ends[bucket - 1]; };
  bool copies = tells_apart<std::iter_value_t<From>, Less>;
  for (std::size_t bucket = 0; copies && bucket < buckets; ++bucket)
    copies = over.equal(bucket) || ends[bucket] == begin_of(bucket);
  if (!copies)
    move_blocks(all, [&](std::size_t block) {
      const std::uint8_t* const bucket = chosen.get();
      std::size_t* const next = &places[block * buckets];
      for (std::size_t i = all.begin(block), end = all.end(block); i < end; ++i) {
        const To place = at(to, next[bucket[i]]++);
        *place = std::ranges::iter_move(at(from, i));
        // The processor foresees fewer streams of stores than there are buckets.
        if constexpr (std::is_pointer_v<To>)
          __builtin_prefetch(
              reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(place) + 128), 1);
      }
    });
  bool used[2 * (most_splitters + 1)] = {};
  try {
    for_long_pieces(buckets, [&](std::size_t i, std::size_t pieces) {
      for (const std::size_t end = i + pieces; i < end; ++i)
        if (begin_of(i) != ends[i]) {
          use(i, begin_of(i), ends[i]);
          used[i] = true;
        }
    });
  } catch (...) {
    for (std::size_t i = 0; i < buckets; ++i)
      if (begin_of(i) != ends[i])
        undo(i, begin_of(i), ends[i], used[i]);
    throw;
  }
  return true;
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
