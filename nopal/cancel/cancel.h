// SPDX-License-Identifier: MIT
// Cancelling a region or another node, and what shields strands from it (nopal/cancel.h). How
// strands are told: sched/stop.h.
#pragma once

#include "nopal/config.h"
#include "nopal/join/cancelable.h"

#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::cancel {

// Any thread: the strands of that node are to stop. Does not wait for them.
void cancel(join::cancelable& node) noexcept;

// The regions that the calling strand stands in, up to the nearest shield; the innermost first.
std::vector<const join::cancelable*> enclosing_regions();

// Around a scope that shields its children.
void begin_shield() noexcept;
void end_shield() noexcept;

// As vproc::begin_alternatives (timer.h); starts the pool if it does not run.
void begin_alternatives() noexcept;

} // namespace nopal::inline NOPAL_ABI::cancel
NOPAL_HIDDEN_END
