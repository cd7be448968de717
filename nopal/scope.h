// SPDX-License-Identifier: MIT
// The class `scope`: it forks and joins. Part of fork.h, which has the contract.
#pragma once

#include "nopal/concepts.h"
#include "nopal/config.h"

#if defined(NOPAL_SERIAL)
#include "nopal/serial.h"
#else

#include "nopal/join/join.h"
#include "nopal/refused_forks.h"
#include "nopal/sched/forks.h"
#include "nopal/sched/thunk.h"

#include <type_traits>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

namespace detail {
template <class Body> void call_affine(Body& body);                    // affine.h
template <class Body> void call_in_arena(Body& body, unsigned vprocs); // arena.h

// What `scope` is; invoke.h and cancel.h have scopes of other kinds.
template <join::fork_kind Kind, class Frame = join::scope_frame>
class NOPAL_TYPE any_scope : public refused_forks {
public:
  [[gnu::always_inline]] inline any_scope() noexcept {
    NOPAL_PIN_FRAME
    frame_.frame_pointer = this_frame();
  }

  // Joins, and rethrows as `join` does, unless an exception is uncaught: then the
  // exceptions of children are only counted (suppressed_exceptions in runtime.h).
  [[gnu::always_inline]] inline ~any_scope() noexcept(false) {
    if (!is_joined()) [[unlikely]] {
      wait();
      NOPAL_IF_CHECKED(results_.give_out());
      sched::finish_join_in_destructor(arch::address_of(frame_));
    }
    NOPAL_IF_CHECKED(results_.give_out());
  }

  any_scope(const any_scope&) = delete;
  any_scope& operator=(const any_scope&) = delete;

  using refused_forks::fork;
  /// Runs `f(args...)` as a child. Function and arguments are moved or copied to the child before
  /// the continuation can run.
  template <class F, class... Args>
    requires forkable<F, Args...>
  [[gnu::always_inline]] inline void fork(F&& f, Args&&... args) {
    if (may_fork())
      sched::call_stub<Kind>(&frame_, std::forward<F>(f), std::forward<Args>(args)...);
  }

  /// Runs `result = f(args...)` as a child, function and arguments moved or copied likewise. The
  /// result is there after the join; check builds keep it away until then (join/kept_results.h).
  template <class R, class F, class... Args>
    requires forkable_into<R, F, Args...>
  [[gnu::always_inline]] inline void fork(R& result, F&& f, Args&&... args) {
    if (!may_fork())
      return;
    if constexpr (sched::copied_as_bytes<std::decay_t<F>>)
      sched::call_stub<Kind>(&frame_,
                             sched::into<R, std::decay_t<F>>{__builtin_addressof(result),
                                                             std::decay_t<F>(std::forward<F>(f))
                                                                 NOPAL_CHECKED_PART(, kept())},
                             std::forward<Args>(args)...);
    else // the function is an argument too, so that it is moved once
      sched::call_stub<Kind>(
          &frame_,
          [at = __builtin_addressof(result)](auto&& function, auto&&... parts) {
            *at = base::call(function, std::forward<decltype(parts)>(parts)...);
          },
          std::forward<F>(f), std::forward<Args>(args)...);
  }

  /// Waits until every child forked so far is finished; rethrows their serially first exception; or
  /// throws `cancelled`, if children were not run because this strand is cancelled. The scope can
  /// be used again.
  [[gnu::always_inline]] inline void join() {
    if (!is_joined()) [[unlikely]] {
      wait();
      NOPAL_IF_CHECKED(results_.give_out());
      sched::finish_join(arch::address_of(frame_));
      if (frame_.needs_join())
        __builtin_unreachable(); // so compilers leave out the destructor's join
    }
    NOPAL_IF_CHECKED(results_.give_out());
  }

protected:
  template <class Body> friend void call_affine(Body& body);
  template <class Body> friend void call_in_arena(Body& body, unsigned vprocs);

  [[gnu::always_inline]] static inline std::uintptr_t this_frame() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }

  // Compilers can decide the first comparison at a scope's first fork.
  [[gnu::always_inline]] inline bool may_fork() noexcept {
    if constexpr (requires(Frame& frame) { frame.cancelled(); })
      if (frame_.cancelled()) [[unlikely]] {
        sched::skip_child(arch::address_of(frame_));
        return false;
      }
    if (frame_.frame_pointer == this_frame()) [[likely]]
      return true;
    if (!frame_.is_of(this_frame()))
      sched::scope_misused();
    return !frame_.overtaken();
  }

  [[gnu::always_inline]] inline void wait() noexcept {
    join::scope_frame* const frame = arch::address_of(frame_);
    if (!frame->is_of(this_frame()))
      sched::scope_misused();
    if (frame->steals() != 0)
      arch::suspend(frame, sched::main_path_waits);
    note_join();
  }
  // Whether there is nothing to wait for.
  [[gnu::always_inline]] inline bool is_joined() noexcept {
    if (frame_.needs_join()) [[unlikely]]
      return false;
    note_join();
    return true;
  }
  // What the children did is ordered before what comes next (base/races.h).
  [[gnu::always_inline]] inline void note_join() noexcept {
    NOPAL_IF_SEEN(base::note_join(arch::address_of(frame_)));
  }

  Frame frame_;
  // The other kinds of scopes are joined by functions of their own.
  NOPAL_CHECKED_PART(join::kept_results results_; join::kept_results * kept() noexcept {
    return Kind == join::fork_kind::plain ? &results_ : nullptr;
  })
};

} // namespace detail

/// Forks children, and waits for them before it dies.
/// @pre It is a local variable, and only the function that declares it forks and joins it. Scopes
/// of one function fork and join like nested blocks.
/// @throws from `join` the serially first exception of the children; `cancelled`, if children were
/// not run because the strand is cancelled. The destructor does the same, unless an exception is
/// uncaught.
/// @par Threads
/// Any thread. After a fork or a join the function may be on another thread.
/// @par Cost
/// A fork that no thief takes allocates nothing and waits for nothing.
/// @par Paper
/// fibril-spaa16, section 4.1.
class NOPAL_TYPE scope : public detail::any_scope<join::fork_kind::plain> {
public:
  [[gnu::always_inline]] inline scope() noexcept {}
  /// Joins, and rethrows as `join` does, unless an exception is uncaught: then the exceptions of
  /// children are only counted (suppressed_exceptions in runtime.h).
  [[gnu::always_inline]] inline ~scope() noexcept(false) {}
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
#endif
