// SPDX-License-Identifier: MIT
// Arenas: computations that are limited to some of the vprocs, and isolated from others.
//
//     nopal::arena two{2};
//     long x = two.run([] { return fib(40); });   // on this thread and at most one other
//
// `run` calls f, and returns or throws what f does, on the calling thread, as an affine region does
// (affine.h). Meanwhile that thread runs strands of f and nothing else, and at most vprocs - 1
// others join it; for one that blocks, another joins. Nobody else takes what f forks, or its
// fibers; and a thread that has joined does nothing else until it finds no more work there. So a
// library that is given an arena takes no more of the machine than that, also beside others that
// compute at the same time.
//
// Arenas nest; an affine region or an arena within one is run by its own thread, and an inner arena
// by those that join it. Thread rules: any thread, any strand; several may run in one arena object
// at a time, each with so many vprocs.
#pragma once

#include "nopal/affine.h"
#include "nopal/concepts.h"
#include "nopal/config.h"
#include "nopal/fork.h"

#include <memory>
#include <utility>

#if !defined(NOPAL_SERIAL)
#include "nopal/base/check.h"
#include "nopal/sched/groups.h"
#include "nopal/sched/thunk.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if !defined(NOPAL_SERIAL)
namespace detail {

template <class Body>
NOPAL_THUNK_FUNCTION void arena_thunk(join::scope_frame* scope, Body* body, unsigned vprocs) {
  NOPAL_IF_SEEN(const sched::seen_child seen{scope});
  join::fork_record record{scope};
  sched::run_affine(&record, sched::calls_of<Body>, body, vprocs);
}

// Its scope's frame is this function's.
template <class Body> [[gnu::noinline]] void call_in_arena(Body& body, unsigned vprocs) {
  scope s;
  sched::through_stub<arena_thunk<Body>>(&s.frame_, std::addressof(body), vprocs);
  s.join();
}

} // namespace detail
#endif

/// How many vprocs a computation may have. It holds no vproc itself.
/// @par Threads
/// Any thread, any strand.
class NOPAL_TYPE arena {
public:
  /// At least one vproc: the calling thread's.
  explicit arena(unsigned vprocs) : vprocs_{vprocs} {
#if !defined(NOPAL_SERIAL)
    NOPAL_ASSERT(vprocs >= 1, "a nopal::arena has %u vprocs, but it must have at least one",
                 vprocs);
#endif
  }

  /// Calls f, and returns what f does, on the calling thread, with so many vprocs at most.
  /// @throws what f throws.
  template <class F>
    requires callable<F>
  typename detail::result_of_call<F>::type run(F&& f) {
#if defined(NOPAL_SERIAL)
    static_cast<void>(vprocs_); // or Clang would call it unused
    return base::call(std::forward<F>(f));
#else
    const auto call = [this](auto& body) { detail::call_in_arena(body, vprocs_); };
    return detail::call_through(call, std::forward<F>(f));
#endif
  }

private:
  unsigned vprocs_;
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
