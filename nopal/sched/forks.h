// SPDX-License-Identifier: MIT
// The slow paths of fork and join: what thunks and scopes call (thunk.h, fork.h, affine.h).
#pragma once

#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using join::fork_record;
using join::scope_frame;
using vproc::group;
using vproc::worker;

// A child: runs it, or destroys what it would have run. Either may throw.
struct body_calls {
  void (*run)(void* closure);
  void (*drop)(void* closure);
};

// The push found the limit lowered, or was not tried because the thread handles or throws an
// exception. True: the child is done with (the fork began a group, or exceptions are alive, and it
// has run; or the strand is cancelled, and it was dropped), and the thunk returns. False: the fork
// is open, and the thunk continues.
bool fork_slow(fork_record* of, const body_calls& child, void* closure) noexcept;

// Check builds, at each fork: ends the program if the strand's control words are not its group's
// and no guard has changed them (nopal/floating_point.h).
void check_control(const worker* self) noexcept;

// The pop found the fork public, or could not tell. Returns if the continuation is still ours; if
// not, the child is finished and the call does not return.
void child_returned(fork_record* of) noexcept;
// The same for a child that threw; its exception has been captured.
void child_threw(fork_record* of) noexcept;

// The whole of an affine region's thunk: `child` is a group of its own, and the continuation
// of its parent is not offered. Returns on the thread that called it.
void run_affine(fork_record* of, const body_calls& child, void* closure) noexcept;

// The same, and at most so many vprocs run its strands (arenas.h).
void run_arena(fork_record* of, const body_calls& child, void* closure, unsigned vprocs) noexcept;

// Called by nopal_arch_suspend, on the scheduler's stack: the main path is at its join, and left
// its stack at `left`.
[[noreturn]] void main_path_waits(arch::context* scope, std::uintptr_t left) noexcept;
// After the join of an active scope: rethrows the serially first exception of its children, if any.
// False: children were cancelled.
bool finish_children(scope_frame* scope);
// The same; throws `cancelled` instead, also if the strand is to stop.
void finish_join(scope_frame* scope);
// The same in a destructor, which must not throw while another exception unwinds the scope.
void finish_join_in_destructor(scope_frame* scope);
[[noreturn]] void throw_cancelled();
[[noreturn]] void scope_misused() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
