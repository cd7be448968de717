// SPDX-License-Identifier: MIT
//
// affine(f): parallel code below functions that must be left on the thread that entered them.
//
//     int callback(void* state) {           // called by a library that holds a lock of its thread
//       return nopal::affine([&] {
//         nopal::scope s;                   // may fork, and go on anywhere
//         ...
//       });                                 // but is back on this thread here
//     }
//
// Calls f and returns what it returns, or throws what it throws, on the thread that called affine.
// While strands of f run elsewhere this thread runs others of f, and nothing else: what the thread
// holds is not met by work that knows nothing of it, and regions within regions end in the reverse
// order in which they began.
//
// The levels at which code below a fork returns to the code above it:
//   L1  the outermost fork of a thread that Nopal did not start: on that thread, always
//   L2  affine: on the thread that entered it
//   L3  a join: on the thread of the last strand that arrives
//
// The price of L2: what is offered above the region goes on being stolen, but this thread does not
// help with it; and when the region is finished elsewhere, it goes on only once this thread is done
// with the strand of f that it runs then. To enter and leave a region takes about as long as a
// steal. On the stack, a region takes two kilobytes and what the scheduler needs.
//
// Thread rules: any thread, any strand.
#pragma once

#include "nopal/config.h"
#include "nopal/fork.h"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace nopal::inline NOPAL_ABI {

#if !defined(NOPAL_SERIAL)
namespace detail {

template <class Body> NOPAL_THUNK_FUNCTION void affine_thunk(scope_frame* scope, Body* body) {
  fork_record of{scope};
  sched::run_affine(&of, run_body<Body>, body);
}

// Its scope's frame is this function's.
template <class Body> [[gnu::noinline]] void call_affine(Body& body) {
  scope s;
  through_stub<affine_thunk<Body>>(&s.frame_, std::addressof(body));
  s.join();
}

} // namespace detail
#endif

template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> affine(F&& f) {
#if defined(NOPAL_SERIAL)
  return std::invoke(std::forward<F>(f));
#else
  using result = std::invoke_result_t<F>;
  if constexpr (std::is_void_v<result>) {
    auto body = [&f] { std::invoke(std::forward<F>(f)); };
    detail::call_affine(body);
  } else if constexpr (std::is_reference_v<result>) {
    std::remove_reference_t<result>* at = nullptr;
    auto body = [&f, &at] {
      result&& refers = std::invoke(std::forward<F>(f));
      at = std::addressof(refers);
    };
    detail::call_affine(body);
    return static_cast<result>(*at);
  } else {
    std::optional<result> returned;
    auto body = [&f, &returned] { returned.emplace(std::invoke(std::forward<F>(f))); };
    detail::call_affine(body);
    return std::move(*returned);
  }
#endif
}

} // namespace nopal::inline NOPAL_ABI
