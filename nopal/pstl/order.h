// SPDX-License-Identifier: MIT
// The standard's algorithms in which libstdc++ trusts the program's comparison to be an order: set
// operations, includes and nth_element. Its own parts of sets overlap where it is none, and then
// they double elements and write where there is no room; its nth_element may not end.
//
// Both sequences are cut once, and each part begins where the one before it ends. So whatever the
// comparison answers, each element is in one part.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/memory.h"
#include "nopal/algorithms/partition.h"
#include "nopal/algorithms/sort.h"
#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/pstl/apart.h"
#include "nopal/pstl/loops.h"
#include "nopal/pstl/scan.h"
#include "nopal/pstl/sort.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::pstl {

// Where each part begins in both sequences, and the ends. Equal elements are of one part.
template <class X, class Y> struct cut {
  X x;
  Y y;
};
template <class X, class Y, class Compare>
std::vector<cut<X, Y>> cuts_of(X x, X x_last, Y y, Y y_last, const Compare& before) {
  const algorithms::blocks all = blocks_of(length_of(x, x_last));
  std::vector<cut<X, Y>> cuts{{x, y}};
  for (std::size_t part = 1; part < all.number; ++part) {
    const X mark = at(x, all.begin(part));
    cuts.push_back({std::lower_bound(cuts.back().x, x_last, *mark, before),
                    std::lower_bound(cuts.back().y, y_last, *mark, before)});
  }
  cuts.push_back({x_last, y_last});
  return cuts;
}

// body(part) for each. `length`: about its elements.
template <class Body> void run_parts(std::size_t number, std::size_t length, const Body& body) {
  const auto some = [&](std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      body(from);
  };
  run_lazily(number, piece_ref{some}, length, algorithms::past_cost_of<Body>);
}

// set(x, x_last, y, y_last, to, before) makes what a part gives in memory without objects, and
// returns its end. most(i, k): how many i elements of the one and k of the other give.
template <class X, class Y, class Out, class Compare, class Most, class Set>
Out set_by_parts(X x, X x_last, Y y, Y y_last, Out out, const Compare& before, const Most& most,
                 const Set& set) {
  using value = std::iter_value_t<Out>;
  const std::vector<cut<X, Y>> cuts = cuts_of(x, x_last, y, y_last, before);
  const std::size_t parts = cuts.size() - 1;
  const std::size_t length = (length_of(x, x_last) + length_of(y, y_last)) / parts + 1;
  const algorithms::memory<value> made{static_cast<std::size_t>(most(x_last - x, y_last - y))};
  const auto place_of = [&](std::size_t part) {
    return made.get() + most(cuts[part].x - x, cuts[part].y - y);
  };
  std::vector<std::size_t> ends(parts + 1); // of each part's output, behind those before it
  run_parts(parts, length, [&](std::size_t part) {
    value* const to = place_of(part);
    ends[part + 1] = static_cast<std::size_t>(
        set(cuts[part].x, cuts[part + 1].x, cuts[part].y, cuts[part + 1].y, to, before) - to);
  });
  for (std::size_t part = 0; part < parts; ++part)
    ends[part + 1] += ends[part];
  run_parts(parts, length, [&](std::size_t part) {
    value* const from = place_of(part);
    value* const last = from + (ends[part + 1] - ends[part]);
    std::move(from, last, at(out, ends[part]));
    std::destroy(from, last);
  });
  return at(out, ends[parts]);
}

template <class X, class Y, class Compare>
bool includes(X x, X x_last, Y y, Y y_last, const Compare& before) {
  constexpr std::size_t few = 1000;
  if (x == x_last || length_of(y, y_last) <= few)
    return std::includes(x, x_last, y, y_last, before);
  const std::vector<cut<Y, X>> cuts = cuts_of(y, y_last, x, x_last, before);
  const std::size_t parts = cuts.size() - 1;
  base::atomic<bool> all{true}; // the loop ends before it is read for the last time
  run_parts(parts, length_of(y, y_last) / parts + 1, [&](std::size_t part) {
    if (all.load(base::relaxed) &&
        !std::includes(cuts[part].y, cuts[part + 1].y, cuts[part].x, cuts[part + 1].x, before))
      all.store(false, base::relaxed);
  });
  return all.load(base::relaxed);
}

// Partitions by an element of the range again and again, on the side where the wanted place is. Few
// elements are sorted, and also those that do not get fewer.
template <class It, class Less>
void find_nth(It first, std::size_t n, std::size_t nth, const Less& less) {
  for (int rounds = 2 * std::bit_width(n); rounds != 0 && n > algorithms::few_serially; --rounds) {
    std::iter_swap(first, at(first, n / 2));
    const It pivot = first;
    const std::size_t low = algorithms::partition_range(
        at(first, 1), n - 1, [&](const auto& each) { return less(each, *pivot); });
    std::iter_swap(first, at(first, low));
    if (nth < low) {
      n = low;
      continue;
    }
    const It middle = at(first, low);
    std::size_t done = low + 1;
    if (low < n / 8) // perhaps many are equal
      done += algorithms::partition_range(at(middle, 1), n - done,
                                          [&](const auto& each) { return !less(*middle, each); });
    if (nth < done)
      return;
    first = at(first, done);
    n -= done;
    nth -= done;
  }
  algorithms::sort_range(first, n, less);
}
template <class It, class Compare>
void nth_element(It first, It nth, It last, const Compare& before) {
  const std::size_t n = length_of(first, last);
  if constexpr (!algorithms::written<It>) {
    std::nth_element(first, nth, last, before);
  } else if (nth != last) {
    const auto find = [&] {
      find_nth(algorithms::plain(first), n, length_of(first, nth),
               called_as_const<Compare>{before});
    };
    if (n <= algorithms::few_serially)
      find(); // which forks nothing
    else
      apart(find);
  }
}

// The program ends where anything but memory is missing, as in the library's own.
template <class F> auto or_end(const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    std::terminate();
  }
}

} // namespace nopal::inline NOPAL_ABI::pstl
NOPAL_HIDDEN_END

// These take the place of the library's functions of the same names and parameters, since they have
// a constraint besides. GCC 14 has other parameters, and keeps its own.
#if _PSTL_VERSION < 17000
namespace __pstl::__internal {

template <class>
concept __any = true;

template <class Policy, class X, class Y, class Out, class Compare, class IsVector, class Most,
          class Set>
  requires __any<Policy>
Out __parallel_set_op(Policy&&, X x, X x_last, Y y, Y y_last, Out out, Compare before, Most most,
                      Set set, IsVector) {
  return ::nopal::pstl::or_end(
      [&] { return ::nopal::pstl::set_by_parts(x, x_last, y, y_last, out, before, most, set); });
}

template <class Policy, class X, class Y, class Compare, class IsVector>
  requires __any<Policy>
bool __pattern_includes(Policy&&, X x, X x_last, Y y, Y y_last, Compare before, IsVector,
                        std::true_type) {
  return ::nopal::pstl::or_end(
      [&] { return ::nopal::pstl::includes(x, x_last, y, y_last, before); });
}

template <class Policy, class It, class Compare, class IsVector>
  requires __any<Policy>
void __pattern_nth_element(Policy&&, It first, It nth, It last, Compare before, IsVector,
                           std::true_type) {
  ::nopal::pstl::or_end([&] { ::nopal::pstl::nth_element(first, nth, last, before); });
}

} // namespace __pstl::__internal
#endif
