// SPDX-License-Identifier: MIT
// What the functions of this interface ask of a function that they are given. Compilers name these
// concepts where a call does not fit. Loops, invoke, either and select have concepts of their own
// beside them: index_range and parallel_range (indices.h), parallel_callable (invoke.h),
// alternatives (either.h), select_case (channel.h), any_scheduler (scheduler.h).
#pragma once

#include "nopal/base/closure.h"
#include "nopal/config.h"

#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// What a scope forks: a child can have a copy of F and of each argument, or what is moved to it,
/// and the copy of F can be called with the copies of the arguments, as rvalues.
template <class F, class... Args>
concept forkable = base::forks<F, Args...>;

/// As forkable; and what the call returns can be assigned to an R.
template <class R, class F, class... Args>
concept forkable_into = base::forks_into<R, F, Args...>;

/// What a fiber begins with: the fiber can have a copy of F, or what is moved to it, and the copy
/// can be called once, without arguments.
template <class F>
concept spawnable = std::is_invocable_v<std::decay_t<F>> && base::copied<F>;

/// What run, affine, shielded and arena::run call: F can be called without arguments, and returns
/// nothing, a reference, or a value that can be moved.
template <class F>
concept callable = base::comes_back<F>;

namespace detail {

// What a function gives that may give nothing: a std::optional, a pointer, ...
template <class Maybe>
concept maybe = requires {
  std::declval<Maybe&>() ? 0 : 1;
  *std::declval<Maybe>();
};

// std::invoke_result_t<F>, or void where F cannot be called: then a compiler says which concept F
// does not satisfy, and not that there is no result.
template <class F> struct result_of_call {
  using type = void;
};
template <class F>
  requires std::is_invocable_v<F>
struct result_of_call<F> {
  using type = std::invoke_result_t<F>;
};

} // namespace detail

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
