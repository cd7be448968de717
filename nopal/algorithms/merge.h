// SPDX-License-Identifier: MIT
// Stable merges of two sorted sequences.
//
// `less` is always asked about an element of the second sequence and one of the first.
//
// In parallel: the middle element of the longer sequence is looked for in the other one, and both
// halves are merged at the same time. Serially, where an element is compared alone: from both ends
// at once and without branches, since which sequence is next cannot be foreseen; the two chains of
// loads and comparisons do not wait for each other.
//
// Whatever `less` answers, each element is taken once. Where it throws, or the strand is cancelled,
// elements that were to be moved have all been moved to the output, in some order.
// Paper: the halves are those of "Multithreaded merge sort" (Cormen et al., chapter 27).
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/scratch.h"
#include "nopal/config.h"
#include "nopal/invoke.h"
#include "nopal/leaf.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// How an element gets to its place.
struct moving {
  template <class It> static decltype(auto) from(It it) { return std::ranges::iter_move(it); }
};
struct copying {
  template <class It> static decltype(auto) from(It it) { return *it; }
};

template <class It> struct sequence {
  It begin;
  std::size_t count;

  sequence front(std::size_t length) const { return {begin, length}; }
  sequence behind(std::size_t length) const { return {at(begin, length), count - length}; }
};

template <class It, class End> auto sequence_of(It first, End last) {
  const auto begin = plain(first);
  return sequence<std::remove_const_t<decltype(begin)>>{begin, count_between(first, last)};
}

template <class Carry, class It, class Out> Out carry_all(sequence<It> from, Out out) {
  for (std::size_t i = 0; i < from.count; ++i, ++out)
    *out = Carry::from(at(from.begin, i));
  return out;
}
template <class Carry, class A, class B, class Out>
void carry_both(sequence<A> low, sequence<B> high, Out out) {
  carry_all<Carry>(high, carry_all<Carry>(low, out));
}
// Moves many, also where the strand is cancelled.
template <class It, class Out> void bring(sequence<It> from, Out to) {
  for_elements(from.count, [begin = from.begin, to](std::size_t i, std::size_t length) {
    std::move(at(begin, i), at(begin, i + length), at(to, i));
  });
}

template <class T> inline constexpr bool few_bytes = only_bytes<T> && sizeof(T) <= 16;
// Whether comparisons are likely to read these alone. What is behind a pointer comes from memory:
// a processor that foresees a branch does not wait for it, and several comparisons at a time wait
// for it together.
template <class T> inline constexpr bool compared_alone = few_bytes<T> && !std::is_pointer_v<T>;
// What is compared in the place of an element: a copy, or its address.
template <class T> using stand_in = std::conditional_t<few_bytes<T>, T, T*>;
template <class T> stand_in<T> stand_in_for(T& element) {
  if constexpr (few_bytes<T>)
    return element;
  else
    return std::addressof(element);
}
template <class T> const T& standing_for(const stand_in<T>& of) {
  if constexpr (few_bytes<T>)
    return of;
  else
    return *of;
}

template <class It, class T>
inline constexpr bool points_to = std::is_same_v<It, T*> || std::is_same_v<It, const T*>;

template <class Carry, class A, class B, class Out, class Less>
void merge_forwards(sequence<A> low, sequence<B> high, Out out, const Less& less) {
  A x = low.begin;
  B y = high.begin;
  const A x_end = at(x, low.count);
  const B y_end = at(y, high.count);
  const auto rest = [](auto from, auto to) {
    return sequence<decltype(from)>{from, static_cast<std::size_t>(to - from)};
  };
  try {
    for (; x != x_end && y != y_end; ++out) {
      if (less(*y, *x)) {
        *out = Carry::from(y);
        ++y;
      } else {
        *out = Carry::from(x);
        ++x;
      }
    }
  } catch (...) {
    if constexpr (std::is_same_v<Carry, moving>)
      carry_both<Carry>(rest(x, x_end), rest(y, y_end), out);
    throw;
  }
  carry_both<Carry>(rest(x, x_end), rest(y, y_end), out);
}

// So many steps from both ends are safe as the shorter sequence is long: a side takes at most one
// element at each. Where `less` is no order, as with NaN, the ends may pass each other in a
// sequence: it gave some elements twice, and the other one's were left out. Nothing else can go
// wrong, since a side takes each element once, and all is merged anew then, from one end.
template <class X, class Y, class T, class Less>
void merge_without_branches(sequence<X*> low, sequence<Y*> high, T* const merged,
                            const Less& less) {
  T* out = merged;
  T* out_end = out + low.count + high.count;
  X* x = low.begin;
  Y* y = high.begin;
  X* x_end = x + low.count;
  Y* y_end = y + high.count;
  while (x < x_end && y < y_end) {
    for (std::ptrdiff_t steps = std::min(x_end - x, y_end - y); steps != 0; --steps) {
      const bool of_y = less(*y, *x);
      *out++ = *(of_y ? y : x);
      x += !of_y;
      y += of_y;
      const bool of_x = less(*(y_end - 1), *(x_end - 1));
      *--out_end = *((of_x ? x_end : y_end) - 1);
      x_end -= of_x;
      y_end -= !of_x;
    }
  }
  if (x == x_end)
    std::copy(y, y_end, out);
  else if (y == y_end)
    std::copy(x, x_end, out);
  else
    merge_forwards<copying>(low, high, merged, less);
}

// Sequences that are in order already, or the other way round, are carried only.
template <class Carry, class A, class B, class Out, class Less>
void merge_serially(sequence<A> low, sequence<B> high, Out out, const Less& less) {
  using value = std::iter_value_t<A>;
  constexpr bool without_branches =
      compared_alone<value> && points_to<A, value> && points_to<B, value> && points_to<Out, value>;
  bool forwards = false; // by what brings the rest along itself
  try {
    if (low.count == 0 || high.count == 0 || !less(*high.begin, *at(low.begin, low.count - 1))) {
      carry_both<Carry>(low, high, out);
    } else if (less(*at(high.begin, high.count - 1), *low.begin)) {
      carry_both<Carry>(high, low, out);
    } else if constexpr (without_branches) {
      merge_without_branches(low, high, out, less);
    } else {
      forwards = true;
      merge_forwards<Carry>(low, high, out, less);
    }
  } catch (...) {
    if constexpr (std::is_same_v<Carry, moving>)
      if (!forwards)
        carry_both<Carry>(low, high, out);
    throw;
  }
}

// Where `mark` of the one sequence belongs in the other: the number of elements before it. Of equal
// ones those count if they are the first sequence's.
enum class mark_of : bool { low, high };
template <mark_of Mine, class It, class Mark, class Less>
std::size_t place_of(const Mark& mark, sequence<It> in, const Less& less) {
  const auto is_before = [&less, &mark](const auto& element) -> bool {
    if constexpr (Mine == mark_of::low)
      return less(element, mark);
    else
      return !less(mark, element);
  };
  std::size_t low = 0;
  for (std::size_t count = in.count; count != 0;) {
    const std::size_t half = count / 2;
    if (is_before(*at(in.begin, low + half))) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

// leaf(low, high, out) merges a part. It may destroy what it reads: nothing else is compared with
// these elements then.
template <class Carry, class A, class B, class Out, class Less, class Leaf>
void merge_by_parts(sequence<A> low, sequence<B> high, Out out, const Less& less,
                    const Leaf& leaf) {
  constexpr std::size_t serial = 4096;
  if (low.count + high.count <= serial)
    return leaf(low, high, out);
  std::size_t of_low = low.count / 2;
  std::size_t of_high = high.count / 2;
  bool begun[2] = {};
  const auto with_part = [&](bool upper, const auto& use) {
    if (upper)
      use(low.behind(of_low), high.behind(of_high), at(out, of_low + of_high));
    else
      use(low.front(of_low), high.front(of_high), out);
  };
  const auto merge_part = [&](bool upper) {
    begun[upper] = true;
    with_part(upper, [&](sequence<A> x, sequence<B> y, Out to) {
      merge_by_parts<Carry>(x, y, to, less, leaf);
    });
  };
  try {
    if (low.count >= high.count)
      of_high = place_of<mark_of::low>(*at(low.begin, of_low), high, less);
    else
      of_low = place_of<mark_of::high>(*at(high.begin, of_high), low, less);
    nopal::invoke([&] { merge_part(false); }, [&] { merge_part(true); });
  } catch (...) {
    if constexpr (std::is_same_v<Carry, moving>)
      for (const bool upper : {false, true})
        if (!begun[upper])
          with_part(upper, [](sequence<A> x, sequence<B> y, Out to) {
            bring(x, to);
            bring(y, at(to, x.count));
          });
    throw;
  }
}

template <class Carry, class A, class B, class Out, class Less>
void merge_in_parallel(sequence<A> low, sequence<B> high, Out out, const Less& less) {
  merge_by_parts<Carry>(low, high, out, less, [&less](sequence<A> x, sequence<B> y, Out to) {
    nopal::leaf([=, &less] { merge_serially<Carry>(x, y, to, less); });
  });
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
