// SPDX-License-Identifier: MIT
// Loops: an ordinary loop in one line, by recursive halving over fork.h.
//
//     nopal::for_index(0, n, [&](int i) { out[i] = f(in[i]); });
//     nopal::for_each(items, [](item& x) { x.update(); });
//     double sum = nopal::reduce(0, n, 0.0, [&](int i) { return a[i]; }, std::plus<>{});
//
// Grain: at most so many consecutive iterations run serially. 0, the default, chooses one from the
// number of iterations alone, for at most 512 pieces. The number of workers has no influence, so a
// reduction's tree, and with it the rounding of a floating-point sum, is the same on every machine.
//
// Exceptions: as by invoke, with an iteration for each function; the smallest index wins. Work and
// span: n iterations have span O(log(n / grain)) plus the longest grain.
#pragma once

#include "nopal/config.h"
#include "nopal/fork.h"
#include "nopal/preemption.h"

#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// Without sign, since the distance between two values of a signed type may not fit the type.
template <std::integral I> I advance(I first, std::size_t by) noexcept {
  return static_cast<I>(static_cast<std::make_unsigned_t<I>>(first) + by);
}

template <std::integral I> std::size_t length(I first, I last) noexcept {
  return last <= first ? 0 : static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
}

inline std::size_t grain_of(std::size_t count, std::size_t asked) noexcept {
  constexpr std::size_t pieces_max = 512;
  return asked == 0 ? (count + pieces_max - 1) / pieces_max : asked;
}

// What a piece has computed does not end the loop.
struct goes_on {
  template <class T> constexpr bool operator()(const T&) const noexcept { return false; }
};

// `leaf(first, count)` for each piece; the results are combined in the order of the pieces, up to
// the first one that `ends` the loop, after which pieces may be left out. Nothing if the strand is
// cancelled, which is not thrown at each level.
template <class I, class Leaf, class Combine, class Ends>
auto halve(I first, std::size_t count, std::size_t grain, const Leaf& leaf, const Combine& combine,
           Ends ends) -> std::optional<std::invoke_result_t<const Leaf&, I, std::size_t>> {
  if (count <= grain) {
    if (stops_at_poll())
      return std::nullopt;
    return leaf(first, count);
  }
  using result = std::invoke_result_t<const Leaf&, I, std::size_t>;
  const std::size_t left = count / 2;
  std::optional<result> low;
  std::optional<result> high;
  const auto part = [&](std::optional<result>& to, I from, std::size_t length) {
    if (std::optional<result> all = halve(from, length, grain, leaf, combine, ends))
      to.emplace(*std::move(all));
    return to && !ends(*to);
  };
#if defined(NOPAL_SERIAL)
  if (part(low, first, left))
    part(high, advance(first, left), count - left);
#else
  structured_scope s;
  s.fork([&] { return part(low, first, left) ? join::ended::well : join::ended::stopped; });
  s.call_last([&] { part(high, advance(first, left), count - left); });
  const bool complete = s.try_join();
#endif
  if (low && ends(*low))
    return low;
#if !defined(NOPAL_SERIAL)
  if (!complete || !high)
    return std::nullopt;
#endif
  return combine(std::move(*low), std::move(*high));
}

template <class I, class Leaf, class Combine, class Ends = goes_on>
auto over_pieces(I first, std::size_t count, std::size_t asked, const Leaf& leaf,
                 const Combine& combine, Ends ends = {}) {
  auto all = halve(first, count, grain_of(count, asked), leaf, combine, ends);
#if !defined(NOPAL_SERIAL)
  if (!all)
    sched::throw_cancelled();
#endif
  return *std::move(all);
}

} // namespace detail

// combine(... combine(combine(identity, map(first)), map(first + 1)) ...), in this order but
// bracketed by pieces, the same on every machine: combine must be associative, not commutative.
// Each piece begins with `identity`, which must be one.
template <std::integral I, class T, class Map, class Combine>
  requires std::invocable<const Map&, I> &&
           std::convertible_to<
               std::invoke_result_t<const Combine&, T, std::invoke_result_t<const Map&, I>>, T>
T reduce(I first, std::type_identity_t<I> last, T identity, const Map& map, const Combine& combine,
         std::size_t grain = 0) {
  const std::size_t count = detail::length(first, last);
  const auto piece = [&](I from, std::size_t length) {
    T total = identity;
    for (std::size_t i = 0; i < length; ++i)
      total = combine(std::move(total), map(detail::advance(from, i)));
    return total;
  };
  return detail::over_pieces(first, count, grain, piece, combine);
}

// f(i) for every i in [first, last), in any order and possibly at the same time.
template <std::integral I, class F>
  requires std::invocable<const F&, I>
void for_index(I first, std::type_identity_t<I> last, const F& f, std::size_t grain = 0) {
  const auto call = [&f](I i) {
    f(i);
    return std::monostate{};
  };
  const auto nothing = [](std::monostate done, std::monostate) { return done; };
  nopal::reduce(first, last, std::monostate{}, call, nothing, grain);
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

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
