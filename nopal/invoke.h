// SPDX-License-Identifier: MIT
//
// invoke(f, g, ...): runs the functions in parallel and returns their results as a tuple;
// std::monostate stands for void. Part of fork.h.
//
// Exceptions: if functions throw, the one that stands first in the argument list is rethrown after
// all that had started are finished, exactly what the serial elision throws; the others count as
// suppressed (runtime.h). What stands behind a function that has thrown, and has not started, is
// not started.
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
// Thrown by an overtaken part of a structured form, and caught by the form's outer parts.
struct not_started {};

// Keeps the function's own exception in its own position: the order of the positions is the serial
// order.
template <class F>
void call_guarded(const join::position& here, std::optional<result_of<F>>& result, F& f,
                  std::exception_ptr& thrown) noexcept {
  try {
    call_into(result, f);
  } catch (const not_started&) {
  } catch (...) {
    thrown = std::current_exception();
    here.of->note_failure(here.function);
  }
}

// Or, if none has thrown but not all have a result, not_started.
void rethrow_first(const std::exception_ptr* thrown, std::size_t count, bool complete);

// `positions` are those of the functions in this sequence.
template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(join::sequence& in, const join::position* positions,
                                       std::index_sequence<I...>, F&... f) {
  constexpr std::size_t count = sizeof...(F);
  std::tuple<std::optional<result_of<F>>...> results;
  std::exception_ptr thrown[count];
  scope s;
  // Every function but the last is forked; the last one is the rest of this strand.
  ((in.overtaken(I)
        ? void()
        : (I + 1 < count
               ? s.fork([&] { call_guarded(positions[I], std::get<I>(results), f, thrown[I]); })
               : call_guarded(positions[I], std::get<I>(results), f, thrown[I]))),
   ...);
  s.join();
  rethrow_first(thrown, count, (std::get<I>(results).has_value() && ...));
  return {std::move(*std::get<I>(results))...};
}

template <class... F, std::size_t... I>
std::tuple<result_of<F>...> invoke_all(std::index_sequence<I...> indices, F&... f) {
  join::sequence in{nullptr};
  const join::position positions[] = {{&in, static_cast<std::uint32_t>(I)}...};
  return invoke_all(in, positions, indices, f...);
}

// Two parts of a structured form, told their positions. `within`: that of the whole, or null.
template <class F, class G> auto invoke_parts(const join::position* within, F&& f, G&& g) {
  join::sequence in{within};
  const join::position positions[] = {{&in, 0}, {&in, 1}};
  auto first = [&f, &positions] { return f(&positions[0]); };
  auto second = [&g, &positions] { return g(&positions[1]); };
  return invoke_all(in, positions, std::index_sequence<0, 1>{}, first, second);
}
#endif

} // namespace detail

template <class... F>
  requires(sizeof...(F) > 0) && (std::is_invocable_v<std::decay_t<F>&> && ...)
auto invoke(F&&... f) {
  return detail::invoke_all(std::index_sequence_for<F...>{}, f...);
}

} // namespace nopal::inline NOPAL_ABI
