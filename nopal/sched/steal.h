// SPDX-License-Identifier: MIT
//
// Finding work: what schedule() asks when no signal has brought any.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/schedule.h"

namespace nopal::inline NOPAL_ABI::sched {

// Blocks until there is something to run.
next_step find_work(worker* self) noexcept;

// reclaim.cc. Gives stack pages back while there is nothing else to do. True: a strand came for its
// stack meanwhile, and is left to this vproc.
bool reclaim_stacks(worker* self, next_step& left) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
