// SPDX-License-Identifier: MIT
// Scans by blocks (blocks.h).
//
// Each element is combine(what precedes its block, the sum within the block), so the brackets are
// the same for any schedule: one more combination for each element than the serial loop has.
// Integers are added on to what precedes them instead, for their sums do not depend on brackets.
#pragma once

#include "nopal/algorithms/blocks.h"
#include "nopal/algorithms/elements.h"
#include "nopal/base/result_place.h"
#include "nopal/config.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// What a scan sums up: copies, also where the elements are read through objects that refer to them.
template <class It, class Proj>
using scanned = std::conditional_t<std::is_same_v<Proj, std::identity>, std::iter_value_t<It>,
                                   std::decay_t<given_by<Proj, It>>>;

enum class scan_kind : bool { inclusive, exclusive };

template <scan_kind Kind, class T, class In, class Out, class Combine, class Map> struct scan {
  using value = base::held_value<T>; // large elements do not fit the frames here
  static constexpr bool in_order = false;
  static constexpr bool bracketed = !std::is_integral_v<T>;

  In in;
  Out out;
  const Combine& combine;
  const Map& map;
  blocks all;

  template <class Low> value both(Low&& low, value high) const {
    return base::make_held<T>([&] {
      return static_cast<T>(
          std::invoke(combine, bare(std::forward<Low>(low)), bare(std::move(high))));
    });
  }
  value read(std::size_t i) const {
    return base::make_held<T>([&] { return static_cast<T>(std::invoke(map, *at(in, i))); });
  }
  template <class Held> static auto&& bare(Held&& held) noexcept {
    return base::bare<T>(std::forward<Held>(held));
  }

  value sum(std::size_t block) const {
    value total = read(all.begin(block));
    for (std::size_t i = all.begin(block) + 1; i < all.end(block); ++i)
      total = both(std::move(total), read(i));
    return total;
  }

  void add(std::optional<value>& before, value&& sum) const {
    if (before)
      before = both(*before, std::move(sum));
    else
      before.emplace(std::move(sum));
  }

  void finish(std::optional<value>&& before, std::size_t block) const { pass(before, block); }

  void pass(std::optional<value>& before, std::size_t block) const {
    if (Kind == scan_kind::inclusive && !before)
      begin(before, block);
    else if constexpr (bracketed)
      go_on(before, block);
    else
      go_on_serially(*before, block);
  }

private:
  // Nothing precedes the first block of an inclusive scan. Elements may be overwritten as soon as
  // they are read.
  void begin(std::optional<value>& before, std::size_t block) const {
    value total = read(all.begin(block));
    *at(out, all.begin(block)) = bare(total);
    for (std::size_t i = all.begin(block) + 1; i < all.end(block); ++i) {
      total = both(std::move(total), read(i));
      *at(out, i) = bare(total);
    }
    before.emplace(std::move(total));
  }

  void go_on(std::optional<value>& before, std::size_t block) const {
    const std::size_t first = all.begin(block);
    value total = read(first);
    if constexpr (Kind == scan_kind::inclusive)
      *at(out, first) = bare(both(*before, total));
    else
      *at(out, first) = bare(*before);
    for (std::size_t i = first + 1; i < all.end(block); ++i) {
      value next = read(i);
      if constexpr (Kind == scan_kind::exclusive)
        *at(out, i) = bare(both(*before, total));
      total = both(std::move(total), std::move(next));
      if constexpr (Kind == scan_kind::inclusive)
        *at(out, i) = bare(both(*before, total));
    }
    before = both(*before, std::move(total));
  }

  void go_on_serially(value& before, std::size_t block) const {
    value total = before;
    for (std::size_t i = all.begin(block); i < all.end(block); ++i) {
      const value next = read(i);
      if constexpr (Kind == scan_kind::exclusive)
        *at(out, i) = bare(total);
      total = both(total, next);
      if constexpr (Kind == scan_kind::inclusive)
        *at(out, i) = bare(total);
    }
    before = total;
  }
};

template <scan_kind Kind, class T, class In, class Out, class Combine, class Map>
Out scan_blocks(In in, std::size_t count, Out out, std::optional<base::held_value<T>> init,
                const Combine& combine, const Map& map) {
  const blocks all{count};
  const auto from = plain(in);
  const auto to = plain(out);
  const scan<Kind, T, std::remove_const_t<decltype(from)>, std::remove_const_t<decltype(to)>,
             Combine, Map>
      process{from, to, combine, map, all};
  over_blocks(process, all, std::move(init));
  return at(out, count);
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
