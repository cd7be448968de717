// SPDX-License-Identifier: MIT
// leaf(f): calls f in a function of its own. Part of fork.h. Thread rules: any thread.
//
//     void multiply(const int* a, const int* b, int* c, int n, int stride) {
//       if (n <= 32)
//         return nopal::leaf([=] { product(a, b, c, n, stride); });
//       nopal::scope s;
//       ...
//
// For the serial code at the leaves of a recursion, and whatever else is serial and long, in a
// function that has a scope. Such a function keeps a frame pointer, one register fewer, and what
// its forks take by reference lives in memory. That holds for all its code, also for a loop that
// the compiler inlines into it and that runs before the scope. A leaf pays a call instead.
//
// Capture by value: then the values reach the leaf as copies, which nothing else can change. And
// the leaf no longer knows what its caller has tested. Where that decides how a short loop is
// compiled, say it again: product(a, b, c, std::min(n, 32), stride).
#pragma once

#include "nopal/config.h"

#include <concepts>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {
// F is a reference where a copy would cost something or would be missed.
template <class F> [[gnu::noinline]] decltype(auto) call_leaf(F f) { return std::as_const(f)(); }
} // namespace detail

/// Returns what f returns, and throws what f throws.
template <class F>
  requires std::invocable<const F&>
[[gnu::always_inline]] inline decltype(auto) leaf(const F& f) {
#if defined(NOPAL_SERIAL)
  return f();
#else
  constexpr bool copied = std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> &&
                          !std::is_reference_v<std::invoke_result_t<const F&>>;
  return detail::call_leaf<std::conditional_t<copied, F, const F&>>(f);
#endif
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
