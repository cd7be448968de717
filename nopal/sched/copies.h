// SPDX-License-Identifier: MIT
// Several copies of Nopal in one process: the program's and those of libraries that it has loaded,
// of this version or of others.
//
// Copies share nothing: each has its threads, stacks, and deques. But a thread may stand in strands
// of several. A strand of copy A calls a library, which forks with its copy B: the thread begins a
// group of B, waits for it, and runs strands of B meanwhile, which may call functions that fork
// with A. For A the call is what an affine region is: the strand goes on on the same thread, on the
// same stack, when B's group has ended. So before a group begins on a thread that runs no strand of
// B, B asks the others whether the thread runs one of theirs. The copy that says yes sets its
// worker aside, until B's group has ended:
//
//   - thieves of A still find the worker in its slot, and take the open forks above the call;
//   - the thread counts as one that runs no strand of A, so a fork with A begins a group.
//
// Invariant: of all copies at most one runs a strand on a thread, since each group begins with none
//            of the others' and ends where it began. A copy has set a worker aside on a thread only
//            while it runs none there.
// Invariant: a word on a stack of A that is a mark (stack/marks.h) was made by A. Copies use the
//            same marks, but a copy makes them only on its own stacks: the forks of threads that
//            run no strands are not marked (vproc::no_worker).
//
// Copies meet by a note: each copy has one in the file that it is linked into (arch/x86_64_note.S),
// and the dynamic linker knows all files. A copy that starts opens its descriptor, then looks for
// other open ones, and makes itself and each of them known to the other. Of two that start at a
// time, at least one sees the other open (order O). Files with a copy that is open stay loaded
// (base::pin_this_library). Copies in other namespaces of the dynamic linker (dlmopen) are not
// found.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/copy.h"
#include "nopal/vproc/worker.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using vproc::copy;
using vproc::worker;

extern "C" copy nopal_copy; // the descriptor of this copy

// Makes this copy and each copy that has started known to each other.
void meet_other_copies() noexcept;
// How many copies are known, with this one.
std::uint32_t copies() noexcept;
// The lowest address of the calling thread's own stack as another copy knows it; 0: none does.
std::uintptr_t lowest_stack_known_to_others() noexcept;

// Called before a thread runs its first strand of this copy. Returns the copy whose strand it ran
// until now, or null. The caller calls that copy's `go_on` after the last strand of this one.
copy* set_other_aside() noexcept;

// Takes this copy's worker that was set aside on this thread; null: none is. put_aside undoes it.
worker* take_aside() noexcept;
void put_aside(worker* before) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
