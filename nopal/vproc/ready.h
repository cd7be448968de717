// SPDX-License-Identifier: MIT
// How a fiber becomes ready: who may run it, and who is woken for that.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/fiber.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Any thread, once for each time that the fiber was parked.
void make_ready(fiber* strand) noexcept;
// The same for all of a list that is linked by `next_waiting`; null: there is none.
void make_all_ready(fiber* first) noexcept;
// The same, and the fiber runs on this vproc alone. Ends the program with a sentence if it can never
// run there.
void enqueue_on(vproc* target, fiber* strand) noexcept;
// Before the vproc may not run any fiber: the fibers that it keeps become everybody's.
void share_ready(vproc* keeper) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
