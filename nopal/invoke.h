// SPDX-License-Identifier: MIT
// invoke(f, g, ...): calls the functions, where they are, in parallel and returns copies of their
// results as a tuple, with std::monostate for void. Part of fork.h. Thread rules: any thread.
//
// Exceptions: if functions throw, the exception of the first in the argument list is rethrown after
// all functions that had started are finished, exactly as by the serial elision; the others count
// as suppressed (runtime.h). Functions behind one that has thrown are not started any more.
#pragma once

#include "nopal/config.h"
#include "nopal/fork.h"
#if !defined(NOPAL_SERIAL)
#include "nopal/join/serial_order.h"
#endif

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace nopal::inline NOPAL_ABI {

namespace detail {

// Each function is called with its position.
#if defined(NOPAL_SERIAL)
struct position;
#else
using join::position;
#endif

template <class F> using returned_by = std::invoke_result_t<const F&, const position*>;
template <class F>
using result_of = std::conditional_t<std::is_void_v<returned_by<F>>, std::monostate,
                                     std::decay_t<returned_by<F>>>;

template <class F>
void call_into(std::optional<result_of<F>>& result, const F& f, const position* here) {
  if constexpr (std::is_void_v<returned_by<F>>) {
    f(here);
    result.emplace();
  } else {
    result.emplace(f(here));
  }
}

#if defined(NOPAL_SERIAL)
template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(const position* within, std::index_sequence<I...>,
                                       const F&... f) {
  std::tuple<std::optional<result_of<F>>...> results;
  (call_into(std::get<I>(results), f, within), ...);
  return {std::move(*std::get<I>(results))...};
}
#else
// Keeps the function's own exception: the order of the positions is the serial order.
template <class F>
void call_guarded(std::optional<result_of<F>>& result, const F& f, const position& here,
                  std::exception_ptr& thrown) noexcept {
  try {
    call_into(result, f, &here);
  } catch (const join::not_started&) {
  } catch (...) {
    thrown = join::handled_exception();
    here.of->note_failure(here.function);
  }
}

// `within`: the position of the whole if it is part of a structured form, or null.
template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(const position* within, std::index_sequence<I...>,
                                       const F&... f) {
  constexpr std::size_t count = sizeof...(F);
  join::sequence in{within};
  const position positions[] = {{&in, static_cast<std::uint32_t>(I)}...};
  std::tuple<std::optional<result_of<F>>...> results;
  std::exception_ptr thrown[count];
  scope s;
  // Every function but the last is forked; the last one is the rest of this strand.
  ((in.overtaken(I)
        ? void()
        : (I + 1 < count
               ? s.fork([&] { call_guarded(std::get<I>(results), f, positions[I], thrown[I]); })
               : call_guarded(std::get<I>(results), f, positions[I], thrown[I]))),
   ...);
  s.join();
  join::rethrow_first(thrown, count, (std::get<I>(results).has_value() && ...));
  return {std::move(*std::get<I>(results))...};
}
#endif

} // namespace detail

template <class... F>
  requires(sizeof...(F) > 0) && (std::is_invocable_v<std::decay_t<F>&> && ...)
auto invoke(F&&... f) {
  return detail::invoke_all(
      nullptr, std::index_sequence_for<F...>{},
      [&f](const detail::position*) -> decltype(auto) { return std::invoke(f); }...);
}

} // namespace nopal::inline NOPAL_ABI
