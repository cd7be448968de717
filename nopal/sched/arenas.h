// SPDX-License-Identifier: MIT
// Arenas: groups whose strands run on so many vprocs and no more (nopal/arena.h).
//
// An arena's group is closed: thieves that are bound to no group do not take its forks or fibers.
// Instead a vproc without work takes a place of an arena, if there is one, and is bound to it like
// the thread that waits for it, as long as it finds work there. Then it gives the place back, so a
// member never sleeps in an arena, and the arena keeps no idle vproc from others.
//
// Invariant (under the lock): an arena's free places + its members = what it was opened with.
// A member leaves in bounded time once nothing is left to do. So who waits for the group may wait
// for its members: when the last has left, the group is used again.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// The waiting thread. Closing waits for the members; no effect on other groups.
void open_arena(group* one, unsigned places) noexcept;
void close_arena(group* one) noexcept;

// A vproc: a place of the first arena that has one, of those from `from` on; null: there is none.
group* take_place(std::size_t& from) noexcept;
bool has_place(const group* one) noexcept;
void give_place_back(group* of) noexcept;

// Before the vproc sleeps: whether an arena has a place, and work for it.
bool arena_has_work(worker* self) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
