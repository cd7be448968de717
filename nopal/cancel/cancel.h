// SPDX-License-Identifier: MIT
// Cancels a region or another node, and shields strands from that (nopal/cancel.h). How strands are
// told to stop: sched/stop.h.
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Tells the strands of that node to stop, and does not wait for them. Any thread.
void cancel(join::cancelable& node) noexcept;

// The regions that would stop the calling strand if they were cancelled, the innermost first.
std::vector<const join::cancelable*> enclosing_regions();

// Called around the life of a scope that shields its children.
void begin_shield() noexcept;
void end_shield() noexcept;

// As vproc::begin_alternatives (timer.h); starts the pool if it does not run.
void begin_alternatives() noexcept;

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
