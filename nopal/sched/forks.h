// SPDX-License-Identifier: MIT
// The slow paths of fork and join: what thunks and scopes call (thunk.h, fork.h, affine.h).
#pragma once

#include "nopal/base/races.h"
#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/sched/body_calls.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
struct worker;
struct worker_deque;
} // namespace nopal::inline NOPAL_ABI::vproc

namespace nopal::inline NOPAL_ABI::sched {

using join::fork_record;
using join::scope_frame;
using vproc::worker;

// Called if the push found the limit lowered, or was not tried because exceptions are alive. True:
// the child has run, or was dropped because the strand is cancelled, and the thunk returns. False:
// the fork is open, and the thunk continues.
bool fork_slow(fork_record* fork, const body_calls& child, void* closure) noexcept;

// Precondition, checked in check builds at each fork: the strand's control words are its group's,
// or a guard has changed them (nopal/floating_point.h).
void check_control(const vproc::worker_deque* self) noexcept;

// Called if `pop` failed: the fork may have been stolen. Returns if the continuation is still ours;
// if not, the child is finished and the call does not return.
void child_returned(fork_record* fork) noexcept;
// The two halves of that: `detach` follows if the continuation is not ours.
bool take_back(fork_record* fork) noexcept;
[[noreturn]] void detach(fork_record* fork) noexcept;
// The same for a child that threw; its exception has been captured.
void child_threw(fork_record* fork) noexcept;

// Called in the place of a fork whose child is skipped, since the scope is cancelled.
void skip_child(scope_frame* scope) noexcept;

// Where strands are apart (base/races.h): the calling strand becomes a child of the scope; null: it
// is not seen as one. `end_seen_child`: the child has ended, and its parent goes on, whose frames
// lie above `high`.
base::seen_strand* begin_seen_child(const scope_frame* scope) noexcept;
void end_seen_child(base::seen_strand* child, std::uintptr_t high) noexcept;

// Called by nopal_arch_suspend, on the scheduler's stack: the main path is at its join, and left
// its stack at `left`.
[[noreturn]] void main_path_waits(arch::context* scope, std::uintptr_t left) noexcept;
// Called after the join of an active scope: rethrows the serially first exception of its children.
// False: children were cancelled.
bool finish_children(scope_frame* scope);
// The same; throws `cancelled` instead, also if the strand is to stop.
void finish_join(scope_frame* scope);
// The same in a destructor, which must not throw while another exception unwinds the scope.
void finish_join_in_destructor(scope_frame* scope);
// As finish_children; throws `cancelled` if the calling strand is to stop.
bool finish_region(join::region_frame* scope);
// Whether an exception unwinds the function, which has forked and not joined since.
bool is_unwound(const scope_frame* scope) noexcept;
// Called by the scope's destructor. Nobody cancels its region any more.
void end_region(join::region_frame* scope);
[[noreturn]] void scope_misused() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
