// SPDX-License-Identifier: MIT
// Loops and reductions of the standard's algorithms, by the loops of loop.h. A range has two ends,
// iterators or integers, and a body is called with the ends of each piece.
//
// The pieces are those of loop.h. The tree of transform_reduce does not depend on the number of
// workers; where reduce has which brackets depends on what is stolen, but what calls it compares.
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"
#include "nopal/for_range.h"
#include "nopal/loop.h"
#include "nopal/pstl/apart.h"
#include "nopal/runtime.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

template <class Index> std::size_t length_of(Index first, Index last) {
  return detail::count_of(last - first);
}
template <class Index> Index at(Index first, std::size_t offset) {
  return static_cast<Index>(first + static_cast<decltype(first - first)>(offset));
}

inline unsigned workers() { return nopal::num_workers(); }

class piece_ref {
public:
  template <class F>
  explicit piece_ref(const F& f) noexcept
      : f_{&f}, call_{[](const void* at, std::size_t i, std::size_t j) {
          (*static_cast<const F*>(at))(i, j);
        }} {}
  void operator()(std::size_t i, std::size_t j) const { call_(f_, i, j); }

private:
  const void* f_;
  void (*call_)(const void* f, std::size_t i, std::size_t j);
};
// Grain 0: as in for_range.h.
inline void run_pieces(std::size_t count, std::size_t grain, piece_ref body) {
  detail::by_pieces(std::size_t{0}, count, grain, body);
}

// body(i, j) for pieces [i, j) of the range, none of them empty.
template <class Index, class Body> void for_pieces(Index first, Index last, const Body& body) {
  const std::size_t count = length_of(first, last);
  if (count <= 1) {
    if (count == 1)
      body(first, last);
    return;
  }
  const auto piece = [&](std::size_t i, std::size_t j) { body(at(first, i), at(first, j)); };
  call_apart(call_ref{[&] { run_pieces(count, 0, piece_ref{piece}); }});
}

// Calls left(); and beside_it() at the same time, but only if a thief comes before left() has
// ended. Returns whether it was called.
template <class Left, class Beside> bool with_a_thief(const Left& left, const Beside& beside_it) {
  base::flag ended;
  bool called = false;
  invoke_both(
      [&] {
        left();
        ended.take();
      },
      [&] {
        if (ended.taken())
          return;
        called = true;
        beside_it();
      });
  return called;
}

// body(i, j, before) continues a value; combine(low, high) joins two, the second of which began
// with the identity. So a search hands on that it has found something, and the rest is short.
template <class T, class Index, class Body, class Combine> class reduction {
public:
  reduction(Index first, std::size_t grain, const T& identity, const Body& body,
            const Combine& combine)
      : first_{first}, grain_{grain}, identity_{identity}, body_{body}, combine_{combine} {}

  T over(std::size_t low, std::size_t high, T before) const {
    while (high - low > grain_) {
      const std::size_t middle = low + (high - low) / 2;
      std::optional<T> left;
      std::optional<T> right;
      if (with_a_thief([&] { left.emplace(over(low, middle, std::move(before))); },
                       [&] { right.emplace(over(middle, high, identity_)); }))
        return combine_(*left, *right);
      before = *std::move(left);
      low = middle;
    }
    return body_(at(first_, low), at(first_, high), before);
  }

private:
  const Index first_;
  const std::size_t grain_;
  const T& identity_;
  const Body& body_;
  const Combine& combine_;
};

template <class T, class Index, class Body, class Combine>
T reduce(Index first, Index last, const T& identity, const Body& body, const Combine& combine) {
  const std::size_t count = length_of(first, last);
  if (count == 0)
    return identity;
  if (count == 1)
    return body(first, last, identity);
  const reduction<T, Index, Body, Combine> all{first, detail::grain_of(count, 0), identity, body,
                                               combine};
  return apart([&] { return all.over(0, count, identity); });
}

// The sum of init and all map(i), where there is no identity. body(i, j, sum) adds those of [i, j)
// to a sum. The first piece begins with init, each other one with its first two elements: what map
// gives need not be a T, but combine gives one for any two.
template <class T, class Index, class Map, class Combine, class Body>
T transform_reduce(Index first, Index last, const Map& map, T init, const Combine& combine,
                   const Body& body) {
  constexpr std::size_t grain_min = 3; // so each piece has two elements at least
  const std::size_t count = length_of(first, last);
  if (count <= grain_min)
    return body(first, last, std::move(init));
  const auto leaf = [&](std::size_t from, std::size_t length) -> T {
    const Index end = at(first, from + length);
    if (from == 0)
      return body(first, end, std::move(init));
    Map own_map = map; // they may be functions that change themselves
    Combine own_combine = combine;
    const Index begin = at(first, from);
    T sum = own_combine(own_map(begin), own_map(at(begin, 1)));
    if (length == 2)
      return sum;
    return body(at(begin, 2), end, std::move(sum));
  };
  const auto both = [&](T& low, T&& high) {
    Combine own_combine = combine;
    low = own_combine(std::move(low), std::move(high));
  };
  return apart([&] {
    const std::size_t grain = std::max(grain_min, detail::grain_of(count, 0));
    return detail::over_pieces(std::size_t{0}, count, grain, leaf, both);
  });
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
