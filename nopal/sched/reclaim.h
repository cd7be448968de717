// SPDX-License-Identifier: MIT
// An idle vproc gives dead stack pages back (stack/retirement.h).
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Gives pages of one stack back, if many are charged and the vproc is bound to no group. True: a
// strand was to resume on that stack meanwhile, and this vproc resumes it: `next`.
bool reclaim_stacks(worker* self, next_step& next) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
