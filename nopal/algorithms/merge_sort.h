// SPDX-License-Identifier: MIT
// Merge sort between a range and a buffer as long.
//
// `sort_between` sorts what lies in `data`, with `other` as long, and leaves it in either. The
// halves are sorted into the one, and merged into the other, both in parallel; at each level all
// elements change places. Elements of a few bytes are sorted four at a time by a network without
// branches at the bottom; of others the places are sorted, and each element moves once then.
//
// Whatever `less` answers, elements only change places. Where it throws, or the strand is
// cancelled, each function here leaves all of them in `data`, in some order.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/merge.h"
#include "nopal/algorithms/scratch.h"
#include "nopal/config.h"
#include "nopal/invoke.h"
#include "nopal/leaf.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

template <class It, class Less> void sort_by_insertion(sequence<It> all, const Less& less) {
  for (std::size_t i = 1; i < all.count; ++i) {
    if (!less(*at(all.begin, i), *at(all.begin, i - 1)))
      continue;
    auto moved = std::ranges::iter_move(at(all.begin, i));
    std::size_t to = i;
    try {
      do
        *at(all.begin, to) = std::ranges::iter_move(at(all.begin, to - 1));
      while (--to > 0 && less(moved, *at(all.begin, to - 1)));
    } catch (...) {
      *at(all.begin, to) = std::move(moved);
      throw;
    }
    *at(all.begin, to) = std::move(moved);
  }
}

template <class T, class Less> void put_in_order(T& x, T& y, const Less& less) {
  const bool wrong = less(y, x);
  const T low = wrong ? y : x;
  y = wrong ? x : y;
  x = low;
}

// Neighbours alone change places, so equal ones keep their order.
template <class T, class Less> void sort_four(T* four, const Less& less) {
  put_in_order(four[0], four[1], less);
  put_in_order(four[2], four[3], less);
  put_in_order(four[1], four[2], less);
  put_in_order(four[0], four[1], less);
  put_in_order(four[2], four[3], less);
  put_in_order(four[1], four[2], less);
}

// At most few_elements. The widths of sorted sequences double from 4.
inline constexpr std::size_t few_elements = 32;
template <class T, class Less>
void sort_few(T* data, T* other, std::size_t count, bool to_other, const Less& less) {
  std::size_t sorted = 0;
  for (; sorted + 4 <= count; sorted += 4)
    sort_four(data + sorted, less);
  sort_by_insertion(sequence<T*>{data + sorted, count - sorted}, less);
  T* from = data;
  T* to = other;
  try {
    for (std::size_t width = 4; width < count; width *= 2, std::swap(from, to))
      for (std::size_t i = 0; i < count; i += 2 * width) {
        const std::size_t low = std::min(width, count - i);
        const std::size_t high = std::min(width, count - i - low);
        merge_without_branches(sequence<T*>{from + i, low}, sequence<T*>{from + i + low, high},
                               to + i, less);
      }
  } catch (...) { // a merge has changed nothing but its output
    if (from == other)
      std::copy(from, from + count, data);
    throw;
  }
  if ((from == other) != to_other)
    std::copy(from, from + count, to);
}

// merge(low, high, out): the halves lie sorted in one of `data` and `other`, and go to the other.
template <class Data, class Other, class Merge>
void merge_halves(Data data, Other other, std::size_t count, bool to_other, const Merge& merge) {
  const auto from_to = [&](auto from, auto to) {
    const sequence<decltype(from)> all{from, count};
    merge(all.front(count / 2), all.behind(count / 2), to);
  };
  if (to_other)
    from_to(data, other);
  else
    from_to(other, data);
}

// Sorts the halves, which both(f, g) does, by sort(data, other, count, to_other), and merges them.
template <class Data, class Other, class Both, class Sort, class Merge>
void sort_halves(Data data, Other other, std::size_t count, bool to_other, const Both& both,
                 const Sort& sort, const Merge& merge) {
  const std::size_t half = count / 2;
  bool sorted[2] = {};
  bool merging = false;
  const auto with_half = [=](bool upper, const auto& use) {
    const std::size_t from = upper ? half : 0;
    use(at(data, from), at(other, from), upper ? count - half : half);
  };
  const auto sort_half = [&](bool upper) {
    with_half(upper, [&](Data x, Other y, std::size_t n) { sort(x, y, n, !to_other); });
    sorted[upper] = true;
  };
  try {
    both([&] { sort_half(false); }, [&] { sort_half(true); });
    merging = true;
    merge_halves(data, other, count, to_other, merge);
  } catch (...) {
    // What is merged, wholly or not, lies where it was to go; a half that is sorted, opposite to
    // that; one that is not, in `data`.
    if (merging == to_other)
      for (const bool upper : {false, true})
        if (sorted[upper])
          with_half(upper, [](Data to, Other from, std::size_t n) {
            bring(sequence<Other>{from, n}, to);
          });
    throw;
  }
}

template <class Data, class Other, class Less>
void sort_serially(Data data, Other other, std::size_t count, bool to_other, const Less& less) {
  using value = std::iter_value_t<Data>;
  constexpr bool without_branches =
      compared_alone<value> && std::is_same_v<Data, value*> && std::is_same_v<Other, value*>;
  if (count <= (without_branches ? few_elements : 16)) {
    if constexpr (without_branches)
      return sort_few(data, other, count, to_other, less);
    sort_by_insertion(sequence<Data>{data, count}, less);
    if (to_other)
      carry_all<moving>(sequence<Data>{data, count}, other);
    return;
  }
  sort_halves(
      data, other, count, to_other,
      [](const auto& f, const auto& g) {
        f();
        g();
      },
      [&less](Data x, Other y, std::size_t n, bool to_y) { sort_serially(x, y, n, to_y, less); },
      [&less](auto low, auto high, auto out) { merge_serially<moving>(low, high, out, less); });
}

template <class It, class Less> bool in_order(It first, std::size_t count, const Less& less) {
  for (std::size_t i = 1; i < count; ++i)
    if (less(*at(first, i), *at(first, i - 1)))
      return false;
  return true;
}

// Compares elements by their places.
template <class Less> struct by_place {
  const Less& less;
  template <class Place> bool operator()(Place x, Place y) const { return less(*x, *y); }
};

// Sorts the places of the elements, for those that are dear to move.
template <class Data, class Other, class Less>
void sort_places(Data data, Other other, std::size_t count, bool to_other, const Less& less) {
  Data places[few_serially];
  Data merged[few_serially];
  for (std::size_t i = 0; i < count; ++i)
    places[i] = at(data, i);
  sort_serially(&places[0], &merged[0], count, false, by_place<Less>{less});
  for (std::size_t i = 0; i < count; ++i)
    *at(other, i) = std::ranges::iter_move(places[i]);
  if (!to_other)
    carry_all<moving>(sequence<Other>{other, count}, data);
}

template <class Data, class Other, class Less>
void sort_between(Data data, Other other, std::size_t count, bool to_other, const Less& less) {
  using value = std::iter_value_t<Data>;
  if (count <= few_serially)
    return nopal::leaf([=, &less] {
      if (in_order(data, count, less)) {
        if (to_other)
          carry_all<moving>(sequence<Data>{data, count}, other);
      } else if constexpr (!few_bytes<value> && few_bytes<Data>) {
        sort_places(data, other, count, to_other, less);
      } else {
        sort_serially(data, other, count, to_other, less);
      }
    });
  sort_halves(
      data, other, count, to_other, [](const auto& f, const auto& g) { nopal::invoke(f, g); },
      [&less](Data x, Other y, std::size_t n, bool to_y) { sort_between(x, y, n, to_y, less); },
      [&less](auto low, auto high, auto out) { merge_in_parallel<moving>(low, high, out, less); });
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
