// SPDX-License-Identifier: MIT
// How a strand gives way where its vproc was told to preempt it: at a fork whose push found the
// limit lowered, and at a poll (nopal/preemption.h).
#pragma once

#include "nopal/base/count.h"
#include "nopal/config.h"
#include "nopal/vproc/vproc.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// On a strand, which may continue on another thread. Where steals are forced, about each eighth
// call gives way without having been told.
void give_way_if_told() noexcept;
// The slow path of nopal::poll: the limit is lowered, or this thread runs no strands.
// Throws `cancelled` if the strand is; the other one says so.
void poll_slow();
bool stops_at_poll_slow();

// The guards of the calling strand; on a thread that runs none, guards that nobody asks.
base::count* current_masks() noexcept;
// One of them has been left: if a signal stands, the next fork or poll sees it.
void unmasked() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
