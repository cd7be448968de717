// SPDX-License-Identifier: MIT
// Loops that stop early, with the answer of the serial loop.
//
//     auto it = nopal::find_if(items, [](const item& x) { return x.fits(); });
//     int i = nopal::for_index_while(0, n, [&](int i) { return work(i); });
//     long sum = nopal::reduce_while(0, n, 0L, std::plus<>{},
//                                    [&](int i) -> std::optional<long> { ... });
//
// All iterations before the one that stops the loop are run; those behind it are not started any
// more, or are cancelled (cancel.h), or have been run in vain. So the answer is that of the serial
// loop, whatever the schedule; only what iterations behind it have done by the way may differ.
//
// Indices, grain, exceptions and thread rules: as in loop.h; but reduce_while, which alone has
// fixed pieces, chooses a grain of at most 65,536.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/search.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/loop.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
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

// What runs in vain behind the iteration that stops the loop is told so between pieces alone: those
// of a long range are no longer than this, or it would run on for ever.
inline std::size_t grain_until_stop(std::size_t count, std::size_t asked,
                                    std::size_t bytes = 0) noexcept {
  constexpr std::size_t longest = 65536;
  return asked != 0 ? asked : std::min(grain_of(count, 0, bytes), longest);
}

// `both(low, high)` adds to the lower value, where no iteration there has stopped the loop.
template <class I, class Leaf, class Both>
auto until_stopped(I first, std::size_t count, std::size_t grain, const Leaf& leaf, Both both) {
  using result = std::invoke_result_t<const Leaf&, I, std::size_t>;
  const auto of_both = [both](result& low, result&& high) {
    both(low.value, std::move(high.value));
    low.stopped = high.stopped;
  };
  const auto ends = [](const result& all) { return all.stopped.has_value(); };
  return over_pieces(first, count, grain, leaf, of_both, ends);
}

// An iteration of for_index_while, counted from `first`.
template <class I, class F> struct index_question {
  I first;
  algorithms::held<F> f;

  bool operator()(std::size_t i) const { return call(f, advance(first, i)); }
};

template <class Map, class I>
using given_by = decltype(*std::declval<std::invoke_result_t<const Map&, I>>());

template <class First, class Last, class T, class Combine, class Map>
concept can_reduce_while =
    bounds<First, Last> && std::is_move_constructible_v<T> && std::is_move_assignable_v<T> &&
    std::invocable<const Map&, index_of<First, Last>> &&
    maybe<std::invoke_result_t<const Map&, index_of<First, Last>>> &&
    combines_with<Combine, T, given_by<Map, index_of<First, Last>>> &&
    combines_with<Combine, T, T> && std::convertible_to<given_by<Map, index_of<First, Last>>, T>;

template <class First, class Last, class T, class Combine, class Map, class... Grain>
consteval bool map_stands_first() {
  if constexpr (can_reduce_while<std::decay_t<First>, std::decay_t<Last>, std::decay_t<T>,
                                 std::decay_t<Combine>, std::decay_t<Map>>)
    return false;
  else
    return can_reduce_while<std::decay_t<First>, std::decay_t<Last>, std::decay_t<T>,
                            std::decay_t<Map>, std::decay_t<Combine>>;
}

} // namespace detail

/// The reduction of all iterations before the first for which `map` gives nothing, as by reduce.
template <class First, class Last, class T, class Combine, class Map>
  requires detail::can_reduce_while<First, Last, T, Combine, Map>
T reduce_while(First first, Last last, T init, const Combine& combine, const Map& map,
               std::size_t grain = 0) {
  const detail::indices all{first, last};
  if (all.count == 0)
    return init;
  using index = typename decltype(all)::type;
  const auto piece = [&](index from, std::size_t length) {
    detail::until_stop<index, std::optional<T>> some;
    for (std::size_t i = 0; i < length && !some.stopped; ++i) {
      index at = detail::advance(from, i); // lives as long as what map gives, which may refer to it
      if (auto&& result = detail::call(map, std::move(at)); !result)
        some.stopped = detail::advance(from, i);
      else if (some.value)
        detail::add(*some.value, combine, *std::forward<decltype(result)>(result));
      else
        some.value.emplace(static_cast<T>(*std::forward<decltype(result)>(result)));
    }
    return some;
  };
  const auto both = [&combine](std::optional<T>& low, std::optional<T>&& high) {
    if (high)
      detail::add(*low, combine, *std::move(high));
  };
  grain = detail::grain_until_stop(all.count, grain, detail::bytes_of(init));
  auto some = detail::until_stopped(all.first, all.count, grain, piece, both);
  if (some.value)
    detail::add(init, combine, *std::move(some.value));
  return init;
}

template <class... Given>
  requires(detail::map_stands_first<Given...>())
void reduce_while(Given&&...) NOPAL_REFUSED("combine stands before map");

/// f(i) for every i in [first, last) up to the first for which f returns false, which is returned;
/// or `last`, or `first` where the range is empty.
template <class First, class Last, class F>
  requires index_range<First, Last> && std::predicate<const F&, detail::index_of<First, Last>>
auto for_index_while(First first, Last last, const F& f, std::size_t grain = 0) {
  const detail::indices all{first, last};
  using index = typename decltype(all)::type;
  if (grain == 0) {
    const std::size_t count =
        algorithms::first_that_stops(all.count, detail::index_question<index, F>{all.first, f});
    return count == all.count ? all.last : detail::advance(all.first, count);
  }
  using stop = detail::until_stop<index, std::monostate>;
  const auto piece = [&f](index from, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
      if (!detail::call(f, detail::advance(from, i)))
        return stop{{}, detail::advance(from, i)};
    return stop{};
  };
  const auto nothing = [](std::monostate, std::monostate) {};
  const auto stopped =
      detail::until_stopped(all.first, all.count, detail::grain_until_stop(all.count, grain), piece,
                            nothing)
          .stopped;
  return stopped.value_or(all.last);
}

/// The same for every element of a random-access range; returns where it stopped, or the end.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class F>
  requires std::predicate<const F&, std::iter_reference_t<It>>
It for_each_while(It first, End last, const F& f, std::size_t grain = 0) {
  using step = std::iter_difference_t<It>;
  const std::size_t count = detail::count_of(last - first);
  const detail::element_call<bool, It, F> goes_on{first, f};
  return first + static_cast<step>(for_index_while(std::size_t{0}, count, goes_on, grain));
}
template <parallel_range Range, class F>
  requires std::predicate<const F&, std::ranges::range_reference_t<Range>>
std::ranges::borrowed_iterator_t<Range> for_each_while(Range&& range, const F& f,
                                                       std::size_t grain = 0) {
  return nopal::for_each_while(std::ranges::begin(range), algorithms::end_of(range), f, grain);
}

/// The first element for which `wanted` is true, or the end.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Wanted>
  requires std::predicate<const Wanted&, std::iter_reference_t<It>>
It find_if(It first, End last, const Wanted& wanted, std::size_t grain = 0) {
  using value = std::iter_reference_t<It>;
  return for_each_while(
      first, last,
      [&](value&& at) -> bool { return !detail::call(wanted, std::forward<value>(at)); }, grain);
}
template <parallel_range Range, class Wanted>
  requires std::predicate<const Wanted&, std::ranges::range_reference_t<Range>>
std::ranges::borrowed_iterator_t<Range> find_if(Range&& range, const Wanted& wanted,
                                                std::size_t grain = 0) {
  return nopal::find_if(std::ranges::begin(range), algorithms::end_of(range), wanted, grain);
}

/// The same with wanted(proj(element)).
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Wanted, class Proj>
  requires std::predicate<const Wanted&, algorithms::given_by<Proj, It>>
It find_if(It first, End last, const Wanted& wanted, const Proj& proj, std::size_t grain = 0) {
  return nopal::find_if(first, last, algorithms::on(wanted, proj), grain);
}
template <parallel_range Range, class Wanted, class Proj>
  requires std::predicate<const Wanted&, algorithms::given_by<Proj, std::ranges::iterator_t<Range>>>
std::ranges::borrowed_iterator_t<Range> find_if(Range&& range, const Wanted& wanted,
                                                const Proj& proj, std::size_t grain = 0) {
  return nopal::find_if(range, algorithms::on(wanted, proj), grain);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
