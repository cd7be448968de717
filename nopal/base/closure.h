// SPDX-License-Identifier: MIT
// What a child runs: copies of the function and of the arguments that a fork was given, in the
// serial elision too.
#pragma once

#include "nopal/config.h"

#include <tuple>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// Does what std::invoke does, whose header takes longer to compile than all others of a fork.
template <class F, class... Args>
[[gnu::always_inline]] inline decltype(auto) call(F&& f, Args&&... args) {
  if constexpr (std::is_member_pointer_v<std::remove_cvref_t<F>>)
    return std::apply(std::forward<F>(f), std::forward_as_tuple(std::forward<Args>(args)...));
  else
    return std::forward<F>(f)(std::forward<Args>(args)...);
}

// What is kept of a result that may refer to the argument: a copy, where that is a value and ends.
template <class F, class Each, class Result = std::invoke_result_t<F, Each>,
          class Copy = std::remove_cvref_t<Result>>
  requires std::is_reference_v<Each> || std::is_convertible_v<Result, Copy>
using kept_result = std::conditional_t<std::is_reference_v<Each>, Result, Copy>;

// A child or a fiber can own each of these values: a copy, or, of an rvalue, what is moved.
template <class... Parts>
concept copied = (std::is_constructible_v<std::decay_t<Parts>, Parts> && ...);

template <class F, class... Args>
concept forks = std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...> && copied<F, Args...>;
template <class R, class F, class... Args>
concept forks_into =
    copied<F, Args...> &&
    std::is_assignable_v<R&, std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>;

// f can be called, and its result is void, a reference, or a value that can be moved.
template <class F>
concept comes_back =
    std::is_invocable_v<F> &&
    (std::is_void_v<std::invoke_result_t<F>> || std::is_reference_v<std::invoke_result_t<F>> ||
     std::is_constructible_v<std::invoke_result_t<F>, std::invoke_result_t<F>>);

// A function object that calls f(args...) once, with the copies that it owns. They are made in the
// order of the parameters, from rvalues by moving. f is called as an lvalue, with rvalues.
template <class F, class... Args>
[[gnu::always_inline]] inline auto closure_of(F&& f, Args&&... args) {
  return [own = std::decay_t<F>(std::forward<F>(f)),
          ... copies = std::decay_t<Args>(std::forward<Args>(args))]() mutable -> decltype(auto) {
    return base::call(own, std::move(copies)...);
  };
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
