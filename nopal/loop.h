// SPDX-License-Identifier: MIT
//
// Loops: an ordinary loop in one line, by recursive halving over fork.h.
//
//     nopal::for_index(0, n, [&](int i) { out[i] = f(in[i]); });
//     nopal::for_each(items, [](item& x) { x.update(); });
//     double sum = nopal::reduce(0, n, 0.0, [&](int i) { return a[i]; }, std::plus<>{});
//
// Grain: so many consecutive iterations run serially. 0, the default, chooses one from the number
// of iterations alone, at most 512 pieces; never from the number of workers, so that a reduction's
// tree, and with it the rounding of a floating-point sum, is the same on every machine and with
// every number of workers.
//
// Exceptions: the one of the smallest index is rethrown, as in the serial elision, after all that
// had started is finished; what comes after it and has not started is not; the others count as
// suppressed (runtime.h). Work and span: n iterations have span O(log(n / grain)) plus the longest
// grain.
#pragma once

#include "nopal/config.h"
#include "nopal/fork.h"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace nopal::inline NOPAL_ABI {

namespace detail {

inline constexpr std::size_t pieces_max = 512;

inline std::size_t grain_for(std::size_t count, std::size_t asked) noexcept {
  return asked != 0 ? asked : (count + pieces_max - 1) / pieces_max;
}

// Distances are counted without sign: the whole range of a signed type is one too long for it.
template <std::integral I> std::size_t distance(I first, I last) noexcept {
  using bits = std::make_unsigned_t<I>;
  return last <= first ? 0
                       : static_cast<std::size_t>(
                             static_cast<bits>(static_cast<bits>(last) - static_cast<bits>(first)));
}

template <std::integral I> I advance(I first, std::size_t by) noexcept {
  using bits = std::make_unsigned_t<I>;
  return static_cast<I>(static_cast<bits>(static_cast<bits>(first) + static_cast<bits>(by)));
}

#if defined(NOPAL_SERIAL)
struct position;
template <class F, class G> auto invoke_parts(const position* within, F&& f, G&& g) {
  return invoke([&f, within] { return f(within); }, [&g, within] { return g(within); });
}
#else
using join::position;
#endif

template <class I, class F>
void halve(const position* within, I first, std::size_t count, const F& f, std::size_t grain) {
  if (count <= grain) {
    for (std::size_t i = 0; i < count; ++i)
      f(advance(first, i));
    return;
  }
  const std::size_t left = count / 2;
  invoke_parts(
      within,
      [&f, first, left, grain](const position* here) { halve(here, first, left, f, grain); },
      [&f, first, left, count, grain](const position* here) {
        halve(here, advance(first, left), count - left, f, grain);
      });
}

template <class I, class T, class Map, class Combine>
T halve_reduce(const position* within, I first, std::size_t count, const T& identity,
               const Map& map, const Combine& combine, std::size_t grain) {
  if (count <= grain) {
    T total = identity;
    for (std::size_t i = 0; i < count; ++i)
      total = combine(std::move(total), map(advance(first, i)));
    return total;
  }
  const std::size_t left = count / 2;
  auto [low, high] = invoke_parts(
      within,
      [&](const position* here) {
        return halve_reduce(here, first, left, identity, map, combine, grain);
      },
      [&](const position* here) {
        return halve_reduce(here, advance(first, left), count - left, identity, map, combine,
                            grain);
      });
  return combine(std::move(low), std::move(high));
}

} // namespace detail

// f(i) for every i in [first, last), in any order and possibly at the same time.
template <std::integral I, class F>
  requires std::invocable<const F&, I>
void for_index(I first, std::type_identity_t<I> last, const F& f, std::size_t grain = 0) {
  const std::size_t count = detail::distance(first, last);
  detail::halve(nullptr, first, count, f, detail::grain_for(count, grain));
}

// f(*it) for every element of a random-access range.
template <std::random_access_iterator It, class F>
  requires std::invocable<const F&, std::iter_reference_t<It>>
void for_each(It first, It last, const F& f, std::size_t grain = 0) {
  using step = std::iter_difference_t<It>;
  for_index(step{0}, last - first, [&](step i) { f(first[i]); }, grain);
}

template <std::ranges::random_access_range Range, class F>
  requires std::ranges::common_range<Range> &&
           std::invocable<const F&, std::ranges::range_reference_t<Range>>
void for_each(Range&& range, const F& f, std::size_t grain = 0) {
  for_each(std::ranges::begin(range), std::ranges::end(range), f, grain);
}

// combine(... combine(combine(identity, map(first)), map(first + 1)) ...), bracketed in any way but
// in this order: combine must be associative, it need not be commutative, and `identity` is used
// once per piece.
template <std::integral I, class T, class Map, class Combine>
  requires std::invocable<const Map&, I> &&
           std::convertible_to<
               std::invoke_result_t<const Combine&, T, std::invoke_result_t<const Map&, I>>, T>
T reduce(I first, std::type_identity_t<I> last, T identity, const Map& map, const Combine& combine,
         std::size_t grain = 0) {
  const std::size_t count = detail::distance(first, last);
  return detail::halve_reduce(static_cast<const detail::position*>(nullptr), first, count, identity,
                              map, combine, detail::grain_for(count, grain));
}

} // namespace nopal::inline NOPAL_ABI
