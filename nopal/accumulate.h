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
// Indices, grain, exceptions and thread rules: as in loop.h.
#pragma once

#include "nopal/config.h"
#include "nopal/loop.h"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {

// `piece(total, first, count)` adds a piece. False: the strand is cancelled. Its scope's frame is
// this function's, as that of `halve` is.
template <class T, class I, class Piece, class Make, class Merge>
[[gnu::noinline]] bool gather(T& total, I first, std::size_t count, std::size_t grain,
                              const Piece& piece, const Make& make, const Merge& merge) {
  if (count <= grain) {
    if (stops_at_poll())
      return false;
    nopal::leaf([=, &total, &piece] { piece(total, first, count); });
    return true;
  }
  const std::size_t left = count / 2;
  const auto part = [&](T& to, I from, std::size_t length) {
    return gather(to, from, length, grain, piece, make, merge);
  };
#if defined(NOPAL_SERIAL)
  return part(total, first, left) && part(total, advance(first, left), count - left);
#else
  kept<T> behind; // where another strand adds the first half meanwhile
  bool ended = false;
  structured_scope s;
  s.fork([&] { return part(total, first, left) ? join::ended::well : join::ended::stopped; });
  s.call_last([&] {
    if (s.stolen())
      behind = keep<T>(make);
    ended = part(behind ? *behind : total, advance(first, left), count - left);
  });
  if (!s.try_join() || !ended)
    return false;
  if (behind)
    call(merge, total, std::move(*behind));
  return true;
#endif
}

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
  using index = typename decltype(all)::type;
  value total = make();
  const auto piece = [&add](value& to, index from, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
      static_cast<void>(detail::call(add, to, detail::advance(from, i)));
  };
  [[maybe_unused]] const bool complete = detail::gather(
      total, all.first, all.count, detail::grain_of(all.count, grain), piece, make, merge);
#if !defined(NOPAL_SERIAL)
  if (!complete)
    join::throw_cancelled();
#endif
  return total;
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
