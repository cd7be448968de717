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

#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/sched/step.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/action.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

[[noreturn]] void schedule(worker* self, signal received) noexcept;

// Puts the action on top of this vproc's stack. Precondition, checked: it is on no stack.
void push_action(vproc::vproc* host, vproc::action* pushed) noexcept;

// A child of this scope, whose continuation was stolen, is finished and has left its stack.
[[noreturn]] void child_ended(void* scope) noexcept;
// A child of this scope, the root of a group that this thread waits for, is finished and has left
// its stack. Nobody has stolen the continuation, and the thread goes on with it as a thief.
void go_on_as_thief(void* scope) noexcept;

// Places the vproc's scheduler on the caller's stack, below the caller's frame.
void place_scheduler(vproc::vproc* host) noexcept;
// Make a switch known to sanitizers: from the scheduler's stack to the worker's, and back.
void tell_stack(worker* self) noexcept;
void tell_scheduler_stack(const vproc::vproc* host) noexcept;
// Where strands are apart (base/races.h): the strand waits on the worker's stack.
void hide_on_stack(const worker* self) noexcept;
NOPAL_SWITCHES inline void note_wait(const worker* self) noexcept {
  if (base::strands_apart) [[unlikely]]
    hide_on_stack(self);
}
NOPAL_SWITCHES inline void note_stack(worker* self) noexcept {
  if (self->host->watched) [[unlikely]]
    tell_stack(self);
}
NOPAL_SWITCHES inline void note_scheduler_stack(const vproc::vproc* host) noexcept {
  if (host->watched) [[unlikely]]
    tell_scheduler_stack(host);
}
// Likewise: the worker's stack gets its first frame, and it is empty again.
NOPAL_SWITCHES inline void note_first_frame(const worker* self) noexcept {
  if (self->host->watched) [[unlikely]]
    base::begin_use(stack::bottom(self->stack), stack::frames_top(self->stack));
}
NOPAL_SWITCHES inline void note_empty_stack(const worker* self) noexcept {
  if (self->host->watched) [[unlikely]]
    base::end_use(stack::bottom(self->stack), stack::frames_top(self->stack));
}

// Starts the pool, whose threads run the scheduler, if it does not run (pool.h).
void start_pool() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
