// SPDX-License-Identifier: MIT
// What algorithms ask of iterators, and how they use them.
#pragma once

#include "nopal/config.h"
#include "nopal/indices.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::algorithms {

// Elements that strands may write at the same time: each is an object in memory, not a bit of
// std::vector<bool>.
template <class It>
concept written =
    std::random_access_iterator<It> && std::is_lvalue_reference_v<std::iter_reference_t<It>>;

// Elements that may be read again: to read them moves nothing out of them.
template <class It>
concept read_again =
    std::random_access_iterator<It> && !std::is_rvalue_reference_v<std::iter_reference_t<It>>;

// What a function is given of an element, and of one that is a constant meanwhile.
template <class Proj, class It>
using given_by = std::invoke_result_t<const Proj&, std::iter_reference_t<It>>;
template <class Proj, class It>
using given_by_constant =
    std::invoke_result_t<const Proj&, const std::remove_reference_t<std::iter_reference_t<It>>&>;

// Function objects, so that no namespace of an argument is searched.
inline constexpr auto at = []<class It>(It first, std::size_t index) -> It {
  return first + static_cast<std::iter_difference_t<It>>(index);
};

// A pointer, if the elements lie side by side.
inline constexpr auto plain = []<class It>(It first) {
  if constexpr (std::contiguous_iterator<It>)
    return std::to_address(first);
  else
    return first;
};

inline constexpr auto count_between = [](auto first, auto last) -> std::size_t {
  return detail::count_of(last - first);
};

// An iterator, also where the range ends with something else.
inline constexpr auto end_of = [](auto& range) {
  return std::ranges::begin(range) + std::ranges::distance(range);
};

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);
// Whether a comparison is the standard's.
enum class order : std::uint8_t { other, rising, falling };
template <class T, class Comp>
inline constexpr order order_of =
    is_one_of<Comp, std::ranges::less, std::less<>, std::less<T>>            ? order::rising
    : is_one_of<Comp, std::ranges::greater, std::greater<>, std::greater<T>> ? order::falling
                                                                             : order::other;
// Whether two elements are the same value where neither is less.
template <class T, class Less>
inline constexpr bool tells_apart =
    std::is_integral_v<T> && Less::template order_of<T> != order::other;

// The functions of users are called as const, since several strands call them at the same time.
template <class Comp, class Proj> class by {
public:
  template <class T>
  static constexpr order order_of =
      std::is_same_v<Proj, std::identity> ? algorithms::order_of<T, Comp> : order::other;

  by(const Comp& comp, const Proj& proj) noexcept : comp_(comp), proj_(proj) {}
  template <class X, class Y> bool operator()(X&& x, Y&& y) const {
    return std::invoke(comp_, std::invoke(proj_, std::forward<X>(x)),
                       std::invoke(proj_, std::forward<Y>(y)));
  }

private:
  const Comp& comp_;
  const Proj& proj_;
};

template <class Result = bool, class F, class Proj> auto on(const F& f, const Proj& proj) {
  return [&f, &proj](auto&& x) -> Result {
    return static_cast<Result>(std::invoke(f, std::invoke(proj, std::forward<decltype(x)>(x))));
  };
}

} // namespace nopal::inline NOPAL_ABI::algorithms
NOPAL_HIDDEN_END
