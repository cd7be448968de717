// SPDX-License-Identifier: MIT
// Arenas: groups whose strands run on a limited number of vprocs (nopal/arena.h).
//
// An arena's group is closed: thieves that are bound to no group do not take its forks or fibers.
// Instead a vproc without work takes a place of an arena, if there is one, and is bound to it like
// the thread that waits for it, as long as it finds work there. Then it gives the place back, so a
// member never sleeps in an arena, and the arena keeps no idle vproc from others.
//
// A member that blocks, or that sleeps in a region within, lends its place: one more may join
// meanwhile. So does the waiting thread.
//
// Invariant (under the lock): members <= places + those lent, or a member leaves when it next looks
// for work. Also, a member leaves in bounded time once nothing is left to do. So the thread that
// waits for the group may wait for the members: the group is used again when all have left.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Called by the waiting thread of a closed group, which others may join at so many places.
// close_arena waits for the members; no effect on open groups.
void open_arena(group* arena, int places) noexcept;
void close_arena(group* arena) noexcept;

// Takes a place of the first arena that has one, from the arena numbered `from` on; sets `from` to
// its number. Null: there is none.
group* take_place(std::size_t& from) noexcept;
bool has_place(const group* arena) noexcept;
void give_place_back(group* arena) noexcept;
// Whether a member must leave, since a place that was lent was taken back.
bool too_many_members(const group* arena) noexcept;
// Adds so many places, while the vprocs that hold them do not run. Negative: takes them back.
void lend_places(group* arena, int number) noexcept;

// Called before the vproc sleeps: whether an arena has a place, and work.
bool arena_has_work(worker* self) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
