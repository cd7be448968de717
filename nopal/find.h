// SPDX-License-Identifier: MIT
// Loops that stop early, with the answer of the serial loop.
//
//     auto it = nopal::find_if(items, [](const item& x) { return x.fits(); });
//     int i = nopal::for_index_while(0, n, [&](int i) { return work(i); });
//     long sum = nopal::reduce_while(0, n, 0L, [&](int i) -> std::optional<long> { ... },
//                                    std::plus<>{});
//
// All iterations before the one that stops the loop are run; those behind it are not started any
// more, or are cancelled (cancel.h), or have been run in vain. So the answer is that of the serial
// loop, whatever the schedule; only what iterations behind it have done by the way may differ.
//
// Grain, exceptions and thread rules: as in loop.h.
#pragma once

#include "nopal/cancel.h"
#include "nopal/config.h"
#include "nopal/loop.h"

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// Of consecutive iterations: what they have computed, and which one has stopped the loop, if any.
template <class I, class T> struct until_stop {
  T value;
  std::optional<I> stopped{};
};

template <class I, class Leaf, class Combine>
auto until_stopped(I first, std::size_t count, std::size_t grain, const Leaf& leaf,
                   const Combine& combine) {
  using result = std::invoke_result_t<const Leaf&, I, std::size_t>;
  const auto of_both = [combine](result low, result high) {
    return result{combine(std::move(low.value), std::move(high.value)), high.stopped};
  };
  const auto ends = [](const result& all) { return all.stopped.has_value(); };
  return over_pieces(first, count, grain, leaf, of_both, ends);
}

} // namespace detail

// The reduction of all iterations before the first for which `map` gives nothing, as by reduce.
template <std::integral I, class T, class Map, class Combine>
  requires std::invocable<const Map&, I> &&
           std::convertible_to<
               std::invoke_result_t<const Combine&, T,
                                    typename std::invoke_result_t<const Map&, I>::value_type>,
               T>
T reduce_while(I first, std::type_identity_t<I> last, T identity, const Map& map,
               const Combine& combine, std::size_t grain = 0) {
  const std::size_t count = detail::length(first, last);
  const auto piece = [&](I from, std::size_t length) {
    detail::until_stop<I, T> all{identity};
    for (std::size_t i = 0; i < length && !all.stopped; ++i) {
      const I at = detail::advance(from, i);
      if (auto one = map(at))
        all.value = combine(std::move(all.value), *std::move(one));
      else
        all.stopped = at;
    }
    return all;
  };
  return detail::until_stopped(first, count, grain, piece, combine).value;
}

// f(i) for every i in [first, last) up to the first for which f returns false, which is returned;
// or `last`.
template <std::integral I, class F>
  requires std::predicate<const F&, I>
I for_index_while(I first, std::type_identity_t<I> last, const F& f, std::size_t grain = 0) {
  const std::size_t count = detail::length(first, last);
  const auto piece = [&f](I from, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
      if (const I at = detail::advance(from, i); !f(at))
        return detail::until_stop<I, std::monostate>{{}, at};
    return detail::until_stop<I, std::monostate>{};
  };
  const auto nothing = [](std::monostate done, std::monostate) { return done; };
  return detail::until_stopped(first, count, grain, piece, nothing)
      .stopped.value_or(count == 0 ? first : last);
}

// The same for every element of a random-access range; returns where it stopped, or the end.
template <std::random_access_iterator It, class F>
  requires std::predicate<const F&, std::iter_reference_t<It>>
It for_each_while(It first, It last, const F& f, std::size_t grain = 0) {
  using step = std::iter_difference_t<It>;
  return first +
         for_index_while(step{0}, last - first, [&](step i) -> bool { return f(first[i]); }, grain);
}
template <std::ranges::random_access_range Range, class F>
  requires std::ranges::common_range<Range> &&
           std::predicate<const F&, std::ranges::range_reference_t<Range>>
auto for_each_while(Range&& range, const F& f, std::size_t grain = 0) {
  return for_each_while(std::ranges::begin(range), std::ranges::end(range), f, grain);
}

// The first element for which `wanted` is true, or the end.
template <std::random_access_iterator It, class Wanted>
  requires std::predicate<const Wanted&, std::iter_reference_t<It>>
It find_if(It first, It last, const Wanted& wanted, std::size_t grain = 0) {
  return for_each_while(
      first, last, [&](std::iter_reference_t<It> one) { return !wanted(one); }, grain);
}
template <std::ranges::random_access_range Range, class Wanted>
  requires std::ranges::common_range<Range> &&
           std::predicate<const Wanted&, std::ranges::range_reference_t<Range>>
auto find_if(Range&& range, const Wanted& wanted, std::size_t grain = 0) {
  return find_if(std::ranges::begin(range), std::ranges::end(range), wanted, grain);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
