// SPDX-License-Identifier: MIT
// Scans: each element becomes the sum of all up to it.
//
//     nopal::inclusive_scan(items, out.begin());                      // std::plus<>
//     nopal::exclusive_scan(items, out.begin(), 0L);
//     nopal::inclusive_scan(items, items.begin(), combine);           // in place
//     nopal::exclusive_scan(words, at.begin(), 0, std::plus<>{}, &std::string::size);
//
// `combine` is associative; it need not commute. The brackets depend on the number of elements
// alone, so that floating-point sums have the same bits on every machine and with any number of
// workers. The price is a second combination for each element; integers do without.
//
// Parameters are in the order of std::ranges: a projection comes last. Work: one worker reads each
// element once, and what was stolen is read twice. Span O(n / 512 + 512). Memory: at most 512
// values. Where something throws, or the strand is cancelled, the output has some of its elements.
#pragma once

#include "nopal/algorithms/elements.h"
#include "nopal/algorithms/scan.h"
#include "nopal/base/result_place.h"
#include "nopal/config.h"
#include "nopal/indices.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What a scan sums up in a T and writes to Out: combine(T, T) is a T, as what proj(element) is. An
/// element is read twice, so reading it does not move it.
template <class It, class Out, class T, class Combine, class Proj>
concept parallel_scannable =
    algorithms::read_again<It> && algorithms::written<Out> && std::copyable<T> &&
    std::convertible_to<algorithms::given_by<Proj, It>, T> &&
    std::convertible_to<std::invoke_result_t<const Combine&, T, T>, T> &&
    std::convertible_to<std::invoke_result_t<const Combine&, T&, T>, T> &&
    std::indirectly_writable<Out, const T&>;

/// Writes the sum of all elements up to and including each one to `out`, which may be `first`.
/// Returns the end of the output.
/// @throws what `combine`, the projection or a copy throws; std::bad_alloc.
/// @par Threads
/// Any thread, any strand.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out,
          class Combine = std::plus<>, class Proj = std::identity>
  requires parallel_scannable<It, Out, algorithms::scanned<It, Proj>, Combine, Proj>
Out inclusive_scan(It first, End last, Out out, const Combine& combine = {},
                   const Proj& proj = {}) {
  using value = algorithms::scanned<It, Proj>;
  return algorithms::scan_blocks<algorithms::scan_kind::inclusive, value>(
      first, algorithms::count_between(first, last), out, std::nullopt, combine, proj);
}
template <parallel_range Range, class Out, class Combine = std::plus<>, class Proj = std::identity>
  requires parallel_scannable<std::ranges::iterator_t<Range>, Out,
                              algorithms::scanned<std::ranges::iterator_t<Range>, Proj>, Combine,
                              Proj>
Out inclusive_scan(Range&& range, Out out, const Combine& combine = {}, const Proj& proj = {}) {
  return nopal::inclusive_scan(std::ranges::begin(range), algorithms::end_of(range), out, combine,
                               proj);
}

/// As inclusive_scan, with `init` before the first element.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out, class Combine,
          class Proj, class T>
  requires parallel_scannable<It, Out, T, Combine, Proj>
Out inclusive_scan(It first, End last, Out out, const Combine& combine, const Proj& proj, T init) {
  return algorithms::scan_blocks<algorithms::scan_kind::inclusive, T>(
      first, algorithms::count_between(first, last), out,
      base::make_held<T>([&] { return T(std::move(init)); }), combine, proj);
}

template <parallel_range Range, class Out, class Combine, class Proj, class T>
  requires parallel_scannable<std::ranges::iterator_t<Range>, Out, T, Combine, Proj>
Out inclusive_scan(Range&& range, Out out, const Combine& combine, const Proj& proj, T init) {
  return nopal::inclusive_scan(std::ranges::begin(range), algorithms::end_of(range), out, combine,
                               proj, std::move(init));
}

/// Writes the sum of `init` and all elements before each one to `out`, which may be `first`.
/// Returns the end of the output.
/// @throws as inclusive_scan.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class Out, class T,
          class Combine = std::plus<>, class Proj = std::identity>
  requires parallel_scannable<It, Out, T, Combine, Proj>
Out exclusive_scan(It first, End last, Out out, T init, const Combine& combine = {},
                   const Proj& proj = {}) {
  return algorithms::scan_blocks<algorithms::scan_kind::exclusive, T>(
      first, algorithms::count_between(first, last), out,
      base::make_held<T>([&] { return T(std::move(init)); }), combine, proj);
}
template <parallel_range Range, class Out, class T, class Combine = std::plus<>,
          class Proj = std::identity>
  requires parallel_scannable<std::ranges::iterator_t<Range>, Out, T, Combine, Proj>
Out exclusive_scan(Range&& range, Out out, T init, const Combine& combine = {},
                   const Proj& proj = {}) {
  return nopal::exclusive_scan(std::ranges::begin(range), algorithms::end_of(range), out,
                               std::move(init), combine, proj);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
