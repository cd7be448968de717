// SPDX-License-Identifier: MIT
// Arenas: groups whose strands run on a limited number of vprocs (nopal/arena.h).
//
// An arena's group is closed: thieves that are bound to no group do not take its forks or fibers.
// Instead a vproc without work takes a place of an arena, if there is one, and is bound to it like
// the thread that waits for it, as long as it finds work there. Then it gives the place back, so a
// member never sleeps in an arena, and the arena keeps no idle vproc from others.
//
// Invariant (under the lock): free places + members = the places that the arena was opened with.
// A member leaves in bounded time once nothing is left to do. So the thread that waits for the
// group may wait for the members: when the last one has left, the group is used again.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Called by the waiting thread. close_arena waits for the members; no effect on other groups.
void open_arena(group* arena, unsigned places) noexcept;
void close_arena(group* arena) noexcept;

// Takes a place of the first arena that has one, from the arena numbered `from` on; sets `from` to
// its number. Null: there is none.
group* take_place(std::size_t& from) noexcept;
bool has_place(const group* arena) noexcept;
void give_place_back(group* arena) noexcept;

// Called before the vproc sleeps: whether an arena has a place, and work.
bool arena_has_work(worker* self) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
