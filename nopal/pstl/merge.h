// SPDX-License-Identifier: MIT
// Merging two sorted ranges in parallel: the longer one is halved, the other one is split at the
// place of the middle element, and both pairs are merged at the same time.
//
// Stable: of equal elements those of the first range come first. Work O(n), span O(log(n)^2) plus
// the longest piece.
#pragma once

#include "nopal/config.h"
#include "nopal/pstl/apart.h"
#include "nopal/pstl/loops.h"
#include "nopal/runtime.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// At most so many elements of n are one piece: enough pieces for the workers, and all in one where
// there is one worker. Halved an even number of times, so that a merge sort's pieces stay in place.
inline std::size_t longest_piece(std::size_t n, std::size_t piece_min) {
  constexpr unsigned pieces_per_worker = 8;
  const unsigned workers = nopal::num_workers();
  if (workers == 1)
    return n;
  const auto halvings = static_cast<unsigned>(std::bit_width(pieces_per_worker * workers - 1));
  return std::max(piece_min, (n >> (halvings + halvings % 2)) + 1);
}

template <class It> struct sorted_run {
  It first;
  It last;

  std::size_t length() const { return length_of(first, last); }
};

// leaf(x, y, out) for each pair of runs that have `longest` elements at most. Comparisons read only
// the elements of these x and y, so a leaf may destroy its own.
template <class X, class Y, class Out, class Compare, class Leaf>
void split_merge(sorted_run<X> x, sorted_run<Y> y, Out out, const Compare& before, const Leaf& leaf,
                 std::size_t longest) {
  if (x.length() + y.length() <= longest) {
    leaf(x, y, out);
    return;
  }
  X in_x = x.first;
  Y in_y = y.first;
  if (x.length() < y.length()) {
    in_y = at(y.first, y.length() / 2);
    in_x = std::upper_bound(x.first, x.last, *in_y, before);
  } else {
    in_x = at(x.first, x.length() / 2);
    in_y = std::lower_bound(y.first, y.last, *in_x, before);
  }
  const Out middle = at(out, length_of(x.first, in_x) + length_of(y.first, in_y));
  invoke_both(
      [&] {
        split_merge(sorted_run<X>{x.first, in_x}, sorted_run<Y>{y.first, in_y}, out, before, leaf,
                    longest);
      },
      [&] {
        split_merge(sorted_run<X>{in_x, x.last}, sorted_run<Y>{in_y, y.last}, middle, before, leaf,
                    longest);
      });
}

constexpr std::size_t merge_piece_min = 2000;

// leaf(x, x_last, y, y_last, out) merges a piece.
template <class X, class Y, class Out, class Compare, class Leaf>
void merge(sorted_run<X> x, sorted_run<Y> y, Out out, const Compare& before, const Leaf& leaf) {
  const auto merge_piece = [&](sorted_run<X> from, sorted_run<Y> and_from, Out to) {
    leaf(from.first, from.last, and_from.first, and_from.last, to, before);
  };
  const std::size_t n = x.length() + y.length();
  const std::size_t longest = n <= merge_piece_min ? n : longest_piece(n, merge_piece_min);
  if (n <= longest)
    merge_piece(x, y, out);
  else
    apart([&] { split_merge(x, y, out, before, merge_piece, longest); });
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END
