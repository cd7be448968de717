// SPDX-License-Identifier: MIT
// affine(f): parallel code below functions that must return on the thread that called them.
//
//     int callback(void* state) {           // called by a library that holds a lock of its thread
//       return nopal::affine([&] {
//         nopal::scope s;                   // may fork, and continue on any thread
//         ...
//       });                                 // but is back on this thread here
//     }
//
// Calls f, and returns or throws what f does, on the thread that called affine. While strands of f
// run elsewhere this thread runs other strands of f, and nothing else. So no unrelated work runs
// under the thread's locks, and nested regions end in the reverse order in which they began.
//
// The levels at which code below a fork returns to the code above it:
//   L1  the outermost fork of a thread that Nopal did not start: on that thread, always
//   L2  affine: on the thread that entered the region
//   L3  a join: on the thread of the last strand that arrives
//
// The price of L2: this thread does not help with the forks above the region, which thieves still
// take; and when the region is finished elsewhere, this thread leaves it only once its current
// strand of f stops. While all strands of f wait, a spare thread runs what is outside, if nobody
// else could (R29 of docs/scheduling.md). A region takes about the time of a steal, and of the
// caller's stack two kilobytes and the scheduler's frames. Thread rules: any thread, any strand.
#pragma once

#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/fork.h"
#include "nopal/sched/groups.h"
#include "nopal/sched/thunk.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if !defined(NOPAL_SERIAL)
namespace detail {

template <class Body> NOPAL_THUNK_FUNCTION void affine_thunk(join::scope_frame* scope, Body* body) {
  NOPAL_IF_SEEN(const sched::seen_child seen{scope});
  join::fork_record record{scope};
  sched::run_affine(&record, sched::calls_of<Body>, body);
}

// Its scope's frame is this function's.
template <class Body> [[gnu::noinline]] void call_affine(Body& body) {
  scope s;
  sched::through_stub<affine_thunk<Body>>(&s.frame_, std::addressof(body));
  s.join();
}

// `call` is given a body without result, to call it once. Returns, or throws, what f does there.
template <class Call, class F> std::invoke_result_t<F> call_through(Call call, F&& f) {
  using result = std::invoke_result_t<F>;
  if constexpr (std::is_void_v<result>) {
    auto body = [&f] { base::call(std::forward<F>(f)); };
    call(body);
  } else if constexpr (std::is_reference_v<result>) {
    std::add_pointer_t<result> referent = nullptr;
    auto body = [&f, &referent] {
      result&& returned = base::call(std::forward<F>(f));
      referent = std::addressof(returned);
    };
    call(body);
    return static_cast<result>(*referent);
  } else {
    std::optional<result> returned;
    auto body = [&f, &returned] { returned.emplace(base::call(std::forward<F>(f))); };
    call(body);
    return std::move(*returned);
  }
}

} // namespace detail
#endif

/// Calls f, and returns what f does, on the thread that called affine.
/// @throws what f throws, on that thread.
/// @par Threads
/// Any thread, any strand.
/// @par Cost
/// About that of a steal: 0.4 us.
template <class F>
  requires callable<F>
typename detail::result_of_call<F>::type affine(F&& f) {
#if defined(NOPAL_SERIAL)
  return base::call(std::forward<F>(f));
#else
  return detail::call_through([](auto& body) { detail::call_affine(body); }, std::forward<F>(f));
#endif
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
