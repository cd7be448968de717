// SPDX-License-Identifier: MIT
// accumulate: a loop that adds to a value where it lies, and to another one where it was stolen.
//
//     using counts = std::unordered_map<std::string, int>;
//     const counts all = nopal::accumulate(
//         0, n, [] { return counts{}; },                                // an empty value
//         [&](counts& some, int i) { ++some[word[i]]; },                // adds an iteration
//         [](counts& low, counts&& high) {                              // adds what comes behind
//           for (auto& [text, number] : high)
//             low[text] += number;
//         });
//
// A strand adds one iteration after the other to the value that it has, over all pieces that it
// runs one after the other; a thief begins with a value of its own. So there is a value for each
// steal, and where nothing is stolen the loop is the serial one. `reduce` (loop.h) has a value for
// each piece, and so the same bits for every schedule.
//
// Indices, exceptions and thread rules: as in loop.h. Grain: a thief begins at a multiple of it.
#pragma once

#include "nopal/config.h"
#include "nopal/loop.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// The work of a lazy loop, whose iterations are runs of so many indices.
template <class T, class Indices, class Make, class Add, class Merge> struct gathering {
  using part = kept<T>;
  const Indices& all;
  std::size_t grain;
  const Make& make;
  const Add& add;
  const Merge& merge;

  part begin() const { return keep<T>(make); }
  void extend(part& to, std::size_t from, std::size_t count) const {
    const std::size_t first = from * grain;
    const std::size_t rest = all.count - first;
    const std::size_t last = first + (count > rest / grain ? rest : count * grain);
    const algorithms::held<Add> own = add; // in registers, and not loaded by each iteration
    const auto begin = all.first;
    T& sum = *to;
    for (std::size_t i = first; i < last; ++i)
      static_cast<void>(call(own, sum, advance(begin, i)));
  }
  void unite(part& low, part&& high) const { call(merge, *low, *std::move(high)); }
};

template <class First, class Last, class Make, class Add, class Merge>
concept can_accumulate =
    bounds<First, Last> && std::invocable<const Make&> &&
    std::is_move_constructible_v<std::invoke_result_t<const Make&>> &&
    std::same_as<std::invoke_result_t<const Make&>,
                 std::remove_cvref_t<std::invoke_result_t<const Make&>>> &&
    std::invocable<const Add&, std::invoke_result_t<const Make&>&, index_of<First, Last>> &&
    std::invocable<const Merge&, std::invoke_result_t<const Make&>&,
                   std::invoke_result_t<const Make&>>;

} // namespace detail

/// A value of make() to which add(value, i) has added each i in [first, last), in this order but
/// bracketed by steals: merge(low, high) adds what a thief has to what lies serially before that.
/// What `merge` does must be associative, not commutative; where it rounds, the last bits depend on
/// the schedule.
/// @throws what the smallest index throws that throws; cancelled.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A make and a merge for each steal, beside the plain loop's.
template <class First, class Last, class Make, class Add, class Merge>
  requires detail::can_accumulate<First, Last, Make, Add, Merge>
std::invoke_result_t<const Make&> accumulate(First first, Last last, const Make& make,
                                             const Add& add, const Merge& merge,
                                             std::size_t grain = 0) {
  using value = std::invoke_result_t<const Make&>;
  const detail::indices all{first, last};
  grain = std::max(grain, std::size_t{1});
  const detail::gathering<value, decltype(all), Make, Add, Merge> work{all, grain, make, add,
                                                                       merge};
  detail::kept<value> total = work.begin();
  algorithms::fold_lazily(detail::parts_of(all.count, grain), work, total, grain);
  return *std::move(total);
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
