// SPDX-License-Identifier: MIT
// How a thread begins a group and goes on when the group has ended (vproc/group.h).
#pragma once

#include "nopal/config.h"
#include "nopal/sched/body_calls.h"
#include "nopal/sched/step.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Each of the next three is the whole of a thunk, and returns on the thread that called it.

// A fork of a thread that runs no strand.
void fork_in_new_group(fork_record* fork, const body_calls& child, void* closure) noexcept;
// An affine region: the child is a group of its own, and the continuation of its parent is not
// offered.
void run_affine(fork_record* fork, const body_calls& child, void* closure) noexcept;
// The same, and at most `vprocs` vprocs run its strands (arenas.h).
void run_arena(fork_record* fork, const body_calls& child, void* closure, unsigned vprocs) noexcept;

// The group that this thread waits for has finished: resumes its root scope, and does not return.
void run(worker* self, finished_root finished) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
