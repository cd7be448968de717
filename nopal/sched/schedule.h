// SPDX-License-Identifier: MIT
// The one place where a vproc decides what it runs next.
//
// A strand that ends, waits or gives way tells its vproc by a signal, on the scheduler's stack, and
// does not come back. `schedule` hands the signal to the action that was pushed last, which answers
// with what the vproc does next (vproc/action.h). Below all actions it answers itself: a fiber that
// gave way becomes ready, and the vproc runs what `find_work` finds (steal.cc).
//
// Paper: manticore-icfp08, section 3.1.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/forks.h"
#include "nopal/vproc/action.h"
#include "nopal/vproc/fiber.h"

#include <variant>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using vproc::fiber;
using vproc::signal;

[[noreturn]] void schedule(worker* self, signal told) noexcept;

// The action is on top of this vproc's stack from now on. Ends the program with a sentence if it is
// on a stack already.
void push_action(vproc::vproc* here, vproc::action* pushed) noexcept;

// What a vproc may run next.
struct stolen {
  scope_frame* continuation;
  group* of;
};
struct joined {
  scope_frame* main_path;
  group* of;
};
struct finished_root { // of the group that this thread waits for
  scope_frame* scope;
};
struct pool_ended {}; // and with it this thread
using next_step = std::variant<stolen, joined, finished_root, fiber*, pool_ended>;

// What schedule() asks when no signal has brought any: blocks until there is something to run. What
// waiting strands have forked comes first if `forked_first`.
next_step find_work(worker* self, bool forked_first) noexcept; // steal.cc
// Gives stack pages back while there is nothing else to do. True: a strand came for its stack
// meanwhile, and is left to this vproc.
bool reclaim_stacks(worker* self, next_step& left) noexcept; // reclaim.cc

// Each resumes the strand and does not return; or it returns, because the strand's stack is being
// reclaimed, and the reclaimer will resume the strand, or because the strand belongs to another
// thread, which was woken. `self` has no stack, or an empty one.
void run(worker* self, stolen what) noexcept;
void run(worker* self, joined what) noexcept;
void run(worker* self, finished_root what) noexcept; // groups.cc
void run(worker* self, pool_ended what) noexcept;
void run(worker* self, fiber* strand) noexcept; // park.cc

// A child whose continuation was stolen is finished, and has left its stack. `scope`: its scope.
[[noreturn]] void child_ended(void* scope) noexcept; // forks.cc

// From now on the scheduler of this vproc runs on the caller's stack, below the caller's frame.
void place_scheduler(vproc::vproc* here) noexcept;
// Make a switch known to the tools: from the scheduler's stack to the worker's, and back.
void note_stack(worker* self) noexcept;
void note_scheduler_stack(const vproc::vproc* here) noexcept;

// The body of a pool thread. Returns when the pool ends, with the worker that its vproc has then.
worker* run_pool_thread(worker* self) noexcept;

// All that a thunk does, on a thread that runs no strand (groups.cc).
void fork_in_new_group(fork_record* of, const body_calls& child, void* closure) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
