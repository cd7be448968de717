// SPDX-License-Identifier: MIT
// What a task receives and returns: copies of bytes, which mean the same in every process.
#pragma once

#include "nopal/config.h"

#include <functional>
#include <string_view>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process::detail {

// A reference by another name: what it refers to stays behind, though it may be copied.
template <class T> inline constexpr bool refers = std::is_reference_v<T>;
template <class T> inline constexpr bool refers<std::reference_wrapper<T>> = true;
template <class... T> inline constexpr bool refers<std::basic_string_view<T...>> = true;

template <class T>
inline constexpr bool is_isolated = std::is_trivially_copyable_v<T> && !refers<T>;
template <class F, class... Args>
using result_of = std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>;

template <class F, class... Args> constexpr void check_isolated() noexcept {
  static_assert(
      is_isolated<std::decay_t<F>>,
      "the function of a task is copied to other processes: it must be trivially copyable");
  static_assert(
      (is_isolated<std::decay_t<Args>> && ...),
      "a task's arguments are copied to other processes: they must be trivially copyable");
  using result = result_of<F, Args...>;
  static_assert(std::is_void_v<result> || is_isolated<result>,
                "a task's result is copied to other processes: it must be trivially copyable");
}

// What a child runs: copies of the function and its arguments.
template <class F, class... Args>
[[gnu::always_inline]] inline auto isolated_closure(F f, Args... args) {
  return [=]() mutable { return std::invoke(f, args...); };
}

// What is kept of a result until the join: that of void takes a place too.
struct nothing {};
template <class T> using kept_of = std::conditional_t<std::is_void_v<T>, nothing, T>;
template <class Body> using result_of_body = kept_of<std::invoke_result_t<Body&>>;
template <class Body> [[gnu::always_inline]] inline result_of_body<Body> call(Body& body) {
  if constexpr (std::is_void_v<std::invoke_result_t<Body&>>)
    return body(), nothing{};
  else
    return body();
}

} // namespace nopal::inline NOPAL_ABI::process::detail
NOPAL_HIDDEN_END
