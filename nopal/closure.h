// SPDX-License-Identifier: MIT
// What a child runs: copies of the function and of the arguments that a fork was given, in the
// serial elision too.
#pragma once

#include "nopal/config.h"

#include <functional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::detail {

// A function object that calls f(args...) once, with the copies that it owns. They are made in the
// order of the parameters, from rvalues by moving. f is called as an lvalue, with rvalues.
template <class F, class... Args>
[[gnu::always_inline]] inline auto closure_of(F&& f, Args&&... args) {
  return [own = std::decay_t<F>(std::forward<F>(f)),
          ... copies = std::decay_t<Args>(std::forward<Args>(args))]() mutable -> decltype(auto) {
    return std::invoke(own, std::move(copies)...);
  };
}

} // namespace nopal::inline NOPAL_ABI::detail
NOPAL_HIDDEN_END
