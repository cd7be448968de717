// SPDX-License-Identifier: MIT
// The indices of a loop: from which to which, of what type, and how many.
//
// A loop from `first` to `last` counts in their common type, as `first < last` compares them: with
// 0 and a std::size_t in std::size_t. Each integer of at most 64 bits counts, characters too; bool
// does not. An enumerator, or an object that converts to a number, counts as `+x` does.
#pragma once

#include "nopal/config.h"

#include <algorithm> // declares the concepts of ranges; <ranges> has the views besides
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::detail {

template <class I>
concept counts = std::integral<I> && !std::same_as<I, bool> && sizeof(I) <= 8;

template <class Bound> struct counted_as {};
template <counts I> struct counted_as<I> {
  using type = I;
};
template <class Bound>
  requires(!std::is_arithmetic_v<Bound>) && std::copy_constructible<Bound> &&
          requires(const Bound& bound) {
            { +bound } -> counts;
          }
struct counted_as<Bound> {
  using type = decltype(+std::declval<const Bound&>());
};

template <class First, class Last>
using index_of =
    std::common_type_t<typename counted_as<First>::type, typename counted_as<Last>::type>;

template <class First, class Last>
concept bounds = requires { typename index_of<First, Last>; };

// Without sign, since the distance between two values of a signed type may not fit the type.
template <counts I> constexpr I advance(I first, std::size_t by) noexcept {
  return static_cast<I>(static_cast<std::make_unsigned_t<I>>(first) + by);
}

template <counts I> constexpr bool is_negative(I value) noexcept {
  if constexpr (std::is_signed_v<I>)
    return value < 0;
  else
    return false;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void begins_below_its_type(long long first) {
  std::fprintf(stderr,
               "nopal: a loop begins at %lld, but its other end has an unsigned type, in which it "
               "would count; give both ends one signed type\n",
               first);
  std::_Exit(70); // as base::die does, which the serial elision does without
}

// [first, last). Every length fits std::size_t.
template <class First, class Last> struct indices {
  using type = index_of<First, Last>;

  constexpr indices(First from, Last to) {
    const typename counted_as<First>::type low = from;
    const typename counted_as<Last>::type high = to;
    if constexpr (std::is_unsigned_v<type>)
      if (is_negative(low))
        begins_below_its_type(static_cast<long long>(low));
    first = last = static_cast<type>(low);
    if (std::is_unsigned_v<type> && is_negative(high))
      return;
    last = static_cast<type>(high);
    if (first < last)
      count = static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
    else
      last = first;
  }

  type first;
  type last; // `first` where the range is empty
  std::size_t count = 0;
};
template <class First, class Last> indices(First, Last) -> indices<First, Last>;

// How many runs of this length make up so many indices; the last may be shorter.
constexpr std::size_t parts_of(std::size_t count, std::size_t length) noexcept {
  return count / length + (count % length != 0 ? 1 : 0);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void too_many_elements() {
  std::fputs("nopal: a range has more than 18446744073709551615 elements, but a loop runs at most "
             "so many\n",
             stderr);
  std::_Exit(70);
}

// The same of elements. Their difference type may have more than 64 bits (std::views::iota).
template <class Difference> constexpr std::size_t count_of(Difference count) {
  if (count <= 0)
    return 0;
  if constexpr (sizeof(Difference) > sizeof(std::size_t))
    if (count > Difference(std::numeric_limits<std::size_t>::max()))
      too_many_elements();
  return static_cast<std::size_t>(count);
}

} // namespace nopal::inline NOPAL_ABI::detail

namespace nopal::inline NOPAL_ABI {

/// Two ends of a loop: integers of at most 64 bits, but not bool, or what `+x` makes one of.
template <class First, class Last>
concept index_range = detail::bounds<First, Last>;

/// The elements of a loop: a range with random access and a size.
template <class Range>
concept parallel_range = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
