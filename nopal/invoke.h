// SPDX-License-Identifier: MIT
// invoke(f, g, ...): calls the functions, where they are, in parallel and returns copies of their
// results as a tuple, with std::monostate for void. Part of fork.h. Thread rules: any thread.
//
// invoke_by_score(score, f, score, g): the same, but f begins first only if its score is not lower.
//
// Exceptions: if functions throw, the exception of the first in the argument list is rethrown,
// exactly as by the serial elision, after all functions that had started have ended. Functions
// behind one that has thrown are not started any more; those that run are cancelled (cancel.h), and
// stop at their next fork, join or poll. Other exceptions count as suppressed (runtime.h).
#pragma once

#include "nopal/config.h"
#include "nopal/sched/forks.h"
#include "nopal/scope.h"

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What invoke takes: F can be called without arguments, as an lvalue, and what it returns, if
/// anything, can be copied or moved into a tuple.
template <class F>
concept parallel_callable =
    std::is_invocable_v<F&> &&
    (std::is_void_v<std::invoke_result_t<F&>> ||
     (std::is_constructible_v<std::decay_t<std::invoke_result_t<F&>>, std::invoke_result_t<F&>> &&
      std::is_move_constructible_v<std::decay_t<std::invoke_result_t<F&>>>));

namespace detail {

template <class F> using returned_by = std::invoke_result_t<const F&>;
template <class F>
using result_of = std::conditional_t<std::is_void_v<returned_by<F>>, std::monostate,
                                     std::decay_t<returned_by<F>>>;

template <class F> void call_into(std::optional<result_of<F>>& result, const F& f) {
  if constexpr (std::is_void_v<returned_by<F>>) {
    f();
    result.emplace();
  } else {
    result.emplace(f());
  }
}

#if defined(NOPAL_SERIAL)
template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(std::index_sequence<I...>, const F&... f) {
  std::tuple<std::optional<result_of<F>>...> results;
  (call_into(std::get<I>(results), f), ...);
  return {std::move(*std::get<I>(results))...};
}
#else
// Its main path is ours, up to the join, and stops with the children that come after a failed one.
class structured_scope : public any_scope<join::fork_kind::structured> {
public:
  [[gnu::always_inline]] inline structured_scope() noexcept {}
  [[gnu::always_inline]] inline ~structured_scope() noexcept(false) {}

  // The function that comes last, on the main path. What it throws waits for the join.
  template <class F> [[gnu::always_inline]] inline void call_last(F&& f) {
    if (!may_fork())
      return;
    try {
      f();
    } catch (...) {
      join::attach_last_failure(arch::address_of(frame_));
    }
  }

  // Whether the continuation of a fork was stolen since the last join: its child may still run. For
  // the main path alone. Where strands are apart (base/races.h), all are taken for stolen.
  [[nodiscard]] bool stolen() const noexcept {
    NOPAL_IF_SEEN(if (base::are_apart()) return true);
    return frame_.steals() != 0;
  }

  // As a join; but returns false where that would throw `cancelled`.
  [[gnu::always_inline]] inline bool try_join() {
    if (is_joined()) [[likely]]
      return true;
    wait();
    const bool complete = sched::finish_children(arch::address_of(frame_));
    if (frame_.needs_join())
      __builtin_unreachable(); // as in join
    return complete;
  }
};

// Its scope's frame is this function's: inlined into a coroutine, the scope would lie on the heap.
template <class... F, std::size_t... I>
[[gnu::noinline]] std::tuple<result_of<F>...> invoke_all(std::index_sequence<I...>, const F&... f) {
  std::tuple<std::optional<result_of<F>>...> results;
  if constexpr (sizeof...(F) == 1) {
    (call_into(std::get<I>(results), f), ...);
  } else {
    structured_scope s;
    ((I + 1 < sizeof...(F) ? s.fork([&] { call_into(std::get<I>(results), f); })
                           : s.call_last([&] { call_into(std::get<I>(results), f); })),
     ...);
    s.join();
  }
  return {std::move(*std::get<I>(results))...};
}
#endif

} // namespace detail

/// Calls the functions in parallel and returns copies of their results, as a tuple.
/// @throws what the first function in the list throws that throws.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A fork for each function but the last.
template <class... F>
  requires(sizeof...(F) > 0) && (parallel_callable<F> && ...)
auto invoke(F&&... f) {
  return detail::invoke_all(std::index_sequence_for<F...>{},
                            [&f]() -> decltype(auto) { return base::call(f); }...);
}

/// Calls both functions in parallel, as invoke does, in the order of their scores: the strand
/// begins with the one whose score is higher, with f where none is, and thieves take the other. A
/// search by branch and bound follows its better branch first, whoever steals.
/// @returns copies of the results of f and of g, as a tuple.
/// @throws what the function throws that began first, or else what the other one throws.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// A comparison and a fork; each order has its own code.
/// @par Paper
/// nowa-ipdps21, section V-A, which asks for such a hint.
template <class Score, class F, class G>
  requires std::totally_ordered<Score> && parallel_callable<F> && parallel_callable<G>
auto invoke_by_score(const Score& score_of_f, F&& f, const Score& score_of_g, G&& g) {
  if (!(score_of_f < score_of_g))
    return invoke(f, g);
  auto [of_g, of_f] = invoke(g, f);
  return std::tuple<decltype(of_f), decltype(of_g)>{std::move(of_f), std::move(of_g)};
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
