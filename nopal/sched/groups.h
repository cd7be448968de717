// SPDX-License-Identifier: MIT
// How a thread begins a group and goes on when the group has ended (vproc/group.h).
#pragma once

#include "nopal/config.h"
#include "nopal/sched/body_calls.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {
struct fork_record;
}
namespace nopal::inline NOPAL_ABI::vproc {
struct worker;
}

namespace nopal::inline NOPAL_ABI::sched {

struct finished_root;

// Each of the next two is the whole of a thunk, and returns on the thread that called it.

// A fork of a thread that runs no strand.
void fork_in_new_group(join::fork_record* fork, const body_calls& child, void* closure) noexcept;
// An affine region, or an arena, whose strands run on at most `vprocs` vprocs (vproc/arenas.h). The
// child is a group of its own, and the continuation of its parent is not offered.
void run_affine(join::fork_record* fork, const body_calls& child, void* closure,
                unsigned vprocs = 0) noexcept;

// The number of the vproc that the calling thread, which runs no strand, has to its end.
std::uint32_t vproc_number_of_thread() noexcept;

// The group that this thread waits for has finished: resumes its root scope, and does not return.
void run(vproc::worker* self, finished_root finished) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
