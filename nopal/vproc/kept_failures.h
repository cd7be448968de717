// SPDX-License-Identifier: MIT
// Exceptions of fibers that are kept until somebody asks for them: who calls `run`, or joins a
// group or a task. Where nobody does for a second, or no strand can go on any more, the first is
// told on standard error, once in a process: it may be why others wait.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/failure_keeper.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Tells the first that is kept, with the number of all, unless that was done before.
void tell_kept_failures() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
