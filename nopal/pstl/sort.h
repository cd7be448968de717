// SPDX-License-Identifier: MIT
// The standard's sort, stable_sort and partial sorts, by the sort of algorithms/sort.h.
//
// The algorithm brings a serial sort of its own, which may also bring the elements there: where
// only the first ones are wanted it is called once for each piece, before anything reads the piece.
// Then the first elements of all pieces move to the front of the range and are sorted. Where a
// whole piece is wanted, it is called for one element at a time: std::sort reads and writes beyond
// a piece where the comparison is no order. So the sort of algorithms/sort.h does all the rest.
//
// Where a comparison or a move throws, the program ends (std::terminate); of std::bad_alloc alone
// the algorithm's caller learns.
#pragma once

#include "nopal/algorithms/sort.h"
#include "nopal/config.h"
#include "nopal/pstl/apart.h"
#include "nopal/pstl/loops.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// A comparison may be a function that changes itself; several strands call it.
template <class Compare> struct called_as_const {
  const Compare& before;
  template <class T> static constexpr algorithms::order order_of = algorithms::order_of<T, Compare>;

  template <class Y, class X> bool operator()(Y&& y, X&& x) const {
    if constexpr (std::is_invocable_v<const Compare&, Y, X>) {
      return before(std::forward<Y>(y), std::forward<X>(x));
    } else {
      Compare own = before;
      return own(std::forward<Y>(y), std::forward<X>(x));
    }
  }
};

// leaf(from, to) for each piece, which then has its first `wanted` elements in front, and for each
// element, where all of a piece are wanted. These move to the front of the range. Returns how many
// they are.
template <class It, class Leaf>
std::size_t bring_first(It first, std::size_t n, std::size_t wanted, std::size_t piece,
                        const Leaf& leaf) {
  const auto sort_pieces = [&](std::size_t i, std::size_t j) {
    for (; i < j; ++i) {
      const std::size_t end = std::min(n, (i + 1) * piece);
      const std::size_t step = wanted < end - i * piece ? piece : 1;
      for (std::size_t k = i * piece; k < end; k += step)
        leaf(at(first, k), at(first, std::min(end, k + step)));
    }
  };
  run_pieces(detail::parts_of(n, piece), 1, piece_ref{sort_pieces});
  if (wanted >= piece)
    return n;
  std::size_t count = wanted;
  for (std::size_t from = piece; from < n; from += piece)
    for (std::size_t i = from; i < std::min(from + wanted, n); ++i, ++count)
      std::iter_swap(at(first, count), at(first, i));
  return count;
}

// How many pieces bring their first `wanted` elements to the front. Each has a heap of them, so few
// pieces are made where that is much of a piece. Where it is a whole one, it is sorted instead.
inline std::size_t pieces_for(std::size_t n, std::size_t wanted) {
  const std::size_t least = workers();
  const std::size_t most = 8 * least;
  return wanted >= n / least ? most : std::clamp(n / wanted / 64, least, most);
}

// `wanted` is 0 where all elements are there, and sorted.
template <class It, class Compare, class LeafSort>
void sort(It first, It last, const Compare& before, const LeafSort& sort_leaf, std::size_t wanted) {
  constexpr std::size_t few = 500;
  const std::size_t n = length_of(first, last);
  // A part of the elements is wanted from one piece, or they are no objects in memory.
  const bool one_piece = n <= algorithms::few_serially || workers() == 1;
  if ((wanted != 0 && wanted < n && one_piece) || !algorithms::written<It>) {
    sort_leaf(first, last, before);
    return;
  }
  const auto sort_all = [&] {
    std::size_t count = n;
    if (wanted != 0)
      count = bring_first(first, n, wanted, std::max(few, n / pieces_for(n, wanted) + 1),
                          [&](It from, It to) { sort_leaf(from, to, before); });
    if constexpr (algorithms::written<It>)
      algorithms::sort_range(algorithms::plain(first), count, called_as_const<Compare>{before});
  };
  if (n <= few)
    sort_all(); // which forks nothing
  else
    apart(sort_all);
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
