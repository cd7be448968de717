// SPDX-License-Identifier: MIT
// A lazy loop whose sums have the same brackets wherever thieves split it: those of a tree that
// depends on the number of pieces alone.
//
// A node of height h is the sum of 2^h pieces, and its number n says which: those from n 2^h on.
// What a strand has computed is kept as the fewest nodes that make it up. A node that is appended
// is added to the one before it if the two are the halves of a higher node, which may then be the
// second half of one higher still. So a split only delays sums: the same nodes are added, in the
// same order, when the parts are united.
// Invariant: of two neighbours in a part, the first ends where the second begins, and they are not
// the halves of one node.
#pragma once

#include "nopal/algorithms/lazy.h"
#include "nopal/config.h"

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// `leaf(piece)` makes the value of a piece; `add(low, high)` adds a value to the one before it.
template <class Value, class Leaf, class Add> struct bracketed {
  struct node {
    std::size_t number;
    unsigned height;
    Value value;
  };
  using part = std::vector<node>;

  std::size_t pieces;
  const Leaf& leaf;
  const Add& add;

  part begin() const {
    part none;
    none.reserve(static_cast<std::size_t>(std::bit_width(pieces)));
    return none;
  }
  void extend(part& to, std::size_t from, std::size_t count) const {
    for (std::size_t piece = from; piece < from + count; ++piece)
      append(to, piece, 0, leaf(piece));
  }
  void unite(part& low, part&& high) const {
    for (node& next : high)
      append(low, next.number, next.height, std::move(next.value));
  }
  // The sum of a part: the last, smallest nodes are added first.
  Value sum(part&& all) const {
    while (all.size() > 1)
      add_last(all);
    return std::move(all.front().value);
  }

private:
  static bool halves(const node& low, std::size_t number, unsigned height) noexcept {
    return low.height == height && low.number % 2 == 0 && low.number + 1 == number;
  }
  void append(part& to, std::size_t number, unsigned height, Value&& value) const {
    if (to.empty() || !halves(to.back(), number, height)) {
      to.push_back({number, height, std::move(value)});
      return;
    }
    add(to.back().value, std::move(value));
    rise(to.back());
    while (to.size() > 1 && halves(to[to.size() - 2], to.back().number, to.back().height)) {
      add_last(to);
      rise(to.back());
    }
  }
  void add_last(part& to) const {
    add(to[to.size() - 2].value, std::move(to.back().value));
    to.pop_back();
  }
  static void rise(node& sum) noexcept {
    sum.number /= 2;
    ++sum.height;
  }
};

// The sum of at least one piece.
template <class Value, class Leaf, class Add>
Value sum_in_brackets(std::size_t pieces, std::size_t length, const Leaf& leaf, const Add& add) {
  const bracketed<Value, Leaf, Add> work{pieces, leaf, add};
  typename bracketed<Value, Leaf, Add>::part all = work.begin();
  fold_lazily(pieces, work, all, length);
  return work.sum(std::move(all));
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
