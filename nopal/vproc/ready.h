// SPDX-License-Identifier: MIT
// How a fiber becomes ready: the queue that it goes to, and the thread that is woken for it.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/fiber.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Any thread, once for each time that the fiber was parked. The caller does not use it after that.
void make_ready(fiber* strand) noexcept;
// The same for all of a list that is linked by `next_waiting`; null: there is none.
void make_all_ready(fiber* first) noexcept;
// The same, but only this vproc runs the fiber. Precondition, checked: it can run there.
void enqueue_on(vproc* target, fiber* strand) noexcept;
// Gives the fibers that the vproc keeps to all vprocs, before it rests or waits for one group.
void share_ready(vproc* keeper) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
