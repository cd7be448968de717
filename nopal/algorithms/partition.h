// SPDX-License-Identifier: MIT
// Partitions: those for which a predicate is true, before the others.
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/keep.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/algorithms/scratch.h"
#include "nopal/config.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// In place. A part is [begin, end), partitioned at `others`. Two parts are united by swaps of the
// low one's others with as many true ones of the high one, from its end.
template <class It, class Pred> struct partitioning {
  struct part {
    std::size_t begin = 0;
    std::size_t others = 0;
    std::size_t end = 0;
  };

  It first;
  const Pred& wanted;

  part begin() const { return {}; }

  void extend(part& to, std::size_t from, std::size_t count) const {
    if (to.begin == to.end)
      to.begin = to.others = from;
    It next = at(first, to.others);
    const It end = at(first, from + count);
    for (It it = at(first, from); it != end; ++it)
      if (wanted(*it)) {
        if (it != next)
          std::ranges::iter_swap(it, next);
        ++next;
      }
    to.others = static_cast<std::size_t>(next - first);
    to.end = from + count;
  }

  void unite(part& low, part&& high) const {
    const std::size_t wanted_high = high.others - high.begin;
    const std::size_t count = std::min(low.end - low.others, wanted_high);
    const It x = at(first, low.others);
    const It y = at(first, high.others - count);
    for_pieces(count, [x, y](std::size_t from, std::size_t length) {
      std::swap_ranges(at(x, from), at(x, from + length), at(y, from));
    });
    low.others += wanted_high;
    low.end = high.end;
  }
};

// How many elements are wanted; they come first.
template <class It, class Pred>
std::size_t partition_range(It first, std::size_t count, const Pred& wanted) {
  const partitioning<It, Pred> work{first, wanted};
  typename partitioning<It, Pred>::part all;
  fold_lazily(count, work, all);
  return all.others;
}

// In order, by way of a buffer: all are asked, then moved there, then to their places.
template <class It, class Pred>
std::size_t partition_stably(It first, std::size_t count, const Pred& wanted) {
  using value = std::iter_value_t<It>;
  const blocks all{count};
  answers asked{all};
  const auto places = std::make_unique<std::size_t[]>(all.number + 1); // of wanted ones
  for_blocks(all, [&](std::size_t block) {
    places[block + 1] = asked.note(all.begin(block), all.end(block),
                                   [&](std::size_t i) { return wanted(*at(first, i)); });
  });
  for (std::size_t block = 0; block < all.number; ++block)
    places[block + 1] += places[block];
  const std::size_t others = places[all.number];
  if (others == 0 || others == count)
    return others;
  scratch<value> buffer{count};
  buffer.take(first);
  move_blocks(all, [&, from_buffer = buffer.begin()](std::size_t block) {
    It to_wanted = at(first, places[block]);
    It to_others = at(first, others + (all.begin(block) - places[block]));
    for (std::size_t i = all.begin(block); i < all.end(block); ++i) {
      It& to = asked[i] ? to_wanted : to_others;
      *to = std::move(from_buffer[i]);
      ++to;
    }
  });
  return others;
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
