// SPDX-License-Identifier: MIT
// Folds over a range whose sums do not depend on brackets: counts, and the places of the smallest
// and largest elements.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/lazy.h"
#include "nopal/config.h"

#include <cstddef>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

template <class It, class Pred> struct counting {
  using part = std::size_t;
  It first;
  const Pred& counts;

  part begin() const noexcept { return 0; }
  void extend(part& to, std::size_t from, std::size_t count) const {
    std::size_t more = 0;
    for (std::size_t i = from; i < from + count; ++i)
      more += counts(*at(first, i)) ? 1u : 0u;
    to += more;
  }
  void unite(part& low, part&& high) const noexcept { low += high; }
};

template <class It, class Pred>
std::size_t count_those(It first, std::size_t count, const Pred& counts) {
  std::size_t sum = 0;
  fold_lazily(count, counting<It, Pred>{first, counts}, sum);
  return sum;
}

// One element stands for all: better(x, y) says that y replaces x, which comes before it.
template <class It, class Better> struct choosing {
  struct part {
    bool any = false;
    It best{};
  };
  It first;
  const Better& better;

  part begin() const { return {}; }
  void extend(part& to, std::size_t from, std::size_t count) const {
    It best = to.any ? to.best : at(first, from);
    for (std::size_t i = from; i < from + count; ++i)
      if (const It it = at(first, i); better(*best, *it))
        best = it;
    to = {true, best};
  }
  void unite(part& low, part&& high) const {
    if (better(*low.best, *high.best))
      low.best = high.best;
  }
};

// `first`, if there is no element.
template <class It, class Better> It choose(It first, std::size_t count, const Better& better) {
  typename choosing<It, Better>::part all{false, first};
  fold_lazily(count, choosing<It, Better>{first, better}, all);
  return all.best;
}

// The first of the smallest and the last of the largest elements.
template <class It, class Less> struct choosing_both {
  struct part {
    bool any = false;
    It low{};
    It high{};
  };
  It first;
  const Less& less;

  part begin() const { return {}; }
  void extend(part& to, std::size_t from, std::size_t count) const {
    part all = to.any ? to : part{true, at(first, from), at(first, from)};
    for (std::size_t i = from; i < from + count; ++i)
      add(all, at(first, i), at(first, i));
    to = all;
  }
  void unite(part& low, part&& high) const { add(low, high.low, high.high); }

private:
  void add(part& to, It low, It high) const {
    if (less(*low, *to.low))
      to.low = low;
    if (!less(*high, *to.high))
      to.high = high;
  }
};

template <class It, class Less>
std::pair<It, It> choose_both(It first, std::size_t count, const Less& less) {
  typename choosing_both<It, Less>::part all{false, first, first};
  fold_lazily(count, choosing_both<It, Less>{first, less}, all);
  return {all.low, all.high};
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
