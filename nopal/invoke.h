// SPDX-License-Identifier: MIT
//
// invoke(f, g, ...): runs the functions in parallel and returns their results as a tuple;
// std::monostate stands for void. Part of fork.h.
//
// Exceptions: if functions throw, the one that stands first in the argument list is rethrown after
// all have finished, exactly what the serial elision throws; the others count as suppressed
// (runtime.h).
#pragma once

#include "nopal/fork.h"

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace nopal {

namespace detail {

template <class F>
using result_of = std::conditional_t<std::is_void_v<std::invoke_result_t<F&>>, std::monostate,
                                     std::decay_t<std::invoke_result_t<F&>>>;

template <class F> void call_into(std::optional<result_of<F>>& result, F& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    std::invoke(f);
    result.emplace();
  } else {
    result.emplace(std::invoke(f));
  }
}

#if defined(NOPAL_SERIAL)
template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(std::index_sequence<I...>, F&... f) {
  std::tuple<std::optional<result_of<F>>...> results;
  (call_into(std::get<I>(results), f), ...);
  return {std::move(*std::get<I>(results))...};
}
#else
// Keeps the function's own exception in its own place: the order of the places is the serial order.
template <class F>
void call_guarded(std::optional<result_of<F>>& result, F& f, std::exception_ptr& thrown) noexcept {
  try {
    call_into(result, f);
  } catch (...) {
    thrown = std::current_exception();
  }
}

void rethrow_first(const std::exception_ptr* thrown, std::size_t count);

template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(std::index_sequence<I...>, F&... f) {
  constexpr std::size_t count = sizeof...(F);
  std::tuple<std::optional<result_of<F>>...> results;
  std::exception_ptr thrown[count];
  scope s;
  // Every function but the last is forked; the last one is the rest of this strand.
  ((I + 1 < count ? s.fork([&] { call_guarded(std::get<I>(results), f, thrown[I]); })
                  : call_guarded(std::get<I>(results), f, thrown[I])),
   ...);
  s.join();
  rethrow_first(thrown, count);
  return {std::move(*std::get<I>(results))...};
}
#endif

} // namespace detail

template <class... F>
  requires(sizeof...(F) > 0) && (std::is_invocable_v<std::decay_t<F>&> && ...)
auto invoke(F&&... f) {
  return detail::invoke_all(std::index_sequence_for<F...>{}, f...);
}

} // namespace nopal
