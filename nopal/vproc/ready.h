// SPDX-License-Identifier: MIT
// How a fiber becomes ready: the queue that it goes to, and the thread that is woken for it.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/fiber.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Any thread, once for each time that the fiber was parked. The caller does not use it after that.
void make_ready(fiber* strand) noexcept;
// The same for a fiber that all vprocs are to take, so that it does not wait for those that the
// calling thread keeps.
void make_ready_for_all(fiber* strand) noexcept;
// The same for the start of an action. It goes to its scheduler or to all vprocs.
void make_ready_for_others(fiber* start) noexcept;
// The same for all of a list that is linked by `next_waiting`; null: there is none.
void make_all_ready(fiber* first) noexcept;
// The same, but only this vproc runs the fiber. Precondition, checked: it can run there.
void enqueue_on(vproc* target, fiber* strand) noexcept;
// The calling vproc does something else than to run the fibers for which it holds units
// (computation.h).
void give_back_units(vproc* holder) noexcept;
// Gives the fibers that the vproc keeps to all vprocs, before it rests or waits for one group.
void share_ready(vproc* keeper) noexcept;
// The same, called by another thread. Fibers that are pinned there stay.
void share_ready_of_another(vproc* keeper) noexcept;
// Gives the actions that are pinned to the vproc, and ready there, to all vprocs, while its thread
// does not run, or runs the strands of a region only.
void unpin_actions(vproc* replaced) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
