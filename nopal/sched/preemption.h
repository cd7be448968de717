// SPDX-License-Identifier: MIT
// A strand whose vproc was told to preempt it gives way at a fork whose push finds the limit
// lowered, or at a poll (nopal/preemption.h).
#pragma once

#include "nopal/base/count.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {
class meter;
}

namespace nopal::inline NOPAL_ABI::sched {

// Called on a strand, which may continue on another thread. Where steals are forced, about one call
// in eight gives way unasked.
void give_way_if_told() noexcept;
// The meter that the calling strand spends from; null: none, as in a region of its fiber.
vproc::meter* current_meter() noexcept;
// Called on a strand at a fork, a poll or a yield: spends a unit, where engines exist. While the
// strand has none, it gives way. Not in code that is masked.
void spend_fuel() noexcept;
// The slow path of nopal::poll: the limit is lowered, or this thread runs no strands.
// poll_slow throws `cancelled` if the strand is cancelled; stops_at_poll_slow returns true.
void poll_slow();
bool stops_at_poll_slow();
// Whether the calling thread runs a strand; else its next fork begins a group.
bool runs_strand() noexcept;
// Whether a seed decides what runs next, so that the clock must not.
bool seed_decides() noexcept;
// Whether it pays that a thief takes half of what takes so many cycles; or so many iterations, of
// which no one knows how long they take. Always where a seed decides.
bool worth_a_steal(std::uint64_t cycles) noexcept;
bool worth_a_steal_unseen(std::size_t iterations) noexcept;

// The guards of the calling strand; on a thread that runs none, guards that nobody reads.
base::count* current_masks() noexcept;
// Called when a guard is left: if the vproc is to preempt, the next fork or poll sees it.
void unmasked() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
