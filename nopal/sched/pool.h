// SPDX-License-Identifier: MIT
// Starting the pool, and ending it.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/threads.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Starts the pool if it does not run; its threads run the body. The first call opens everything
// that strands need.
void start(vproc::pool_body body) noexcept;
// Ends the pool (vproc/threads.h). Precondition, checked: no computation runs.
void stop();

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
