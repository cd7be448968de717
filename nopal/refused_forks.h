// SPDX-License-Identifier: MIT
// The forks that are refused, each with its reason in the compiler's message.
#pragma once

#include "nopal/base/closure.h"
#include "nopal/config.h"

#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::detail {

enum class refusal { none, not_copied, wants_reference, no_result, not_called };

template <class F, class... Args> consteval refusal refusal_of_call() {
  if (std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>)
    return base::copied<F, Args...> ? refusal::none : refusal::not_copied;
  return std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>&...> ? refusal::wants_reference
                                                                       : refusal::not_called;
}

template <class R, class F, class... Args>
consteval refusal refusal_into(std::type_identity<F>, std::type_identity<Args>...) {
  if (base::forks_into<R, F, Args...>)
    return refusal::none;
  constexpr refusal call = refusal_of_call<F, Args...>();
  return call == refusal::none ? refusal::no_result : call;
}

// Of a call, or of a call whose result goes to the first argument: what is nearer to being right.
template <class F, class... Args> consteval refusal refusal_of() {
  constexpr refusal call = refusal_of_call<F, Args...>();
  if constexpr (call == refusal::not_called && sizeof...(Args) > 0 && std::is_lvalue_reference_v<F>)
    return refusal_into<std::remove_reference_t<F>>(std::type_identity<Args>{}...);
  else
    return call;
}

// A base of all that forks.
struct refused_forks {
  template <class... Given>
    requires(refusal_of<Given...>() == refusal::wants_reference)
  void fork(Given&&...) NOPAL_REFUSED("a child has copies: for a T& write std::ref(x)");
  template <class... Given>
    requires(refusal_of<Given...>() == refusal::not_copied)
  void fork(Given&&...) NOPAL_REFUSED("this cannot be copied: std::move(x), or std::ref(x)");
  template <class... Given>
    requires(refusal_of<Given...>() == refusal::no_result)
  void fork(Given&&...) NOPAL_REFUSED("the result cannot be assigned to the first argument");
  template <class... Given>
    requires(refusal_of<Given...>() == refusal::not_called)
  void fork(Given&&...) NOPAL_REFUSED("the function cannot be called with these arguments");
};

} // namespace nopal::inline NOPAL_ABI::detail
NOPAL_HIDDEN_END
