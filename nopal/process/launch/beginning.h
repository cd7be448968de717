// SPDX-License-Identifier: MIT
// While MPI begins, it may wait for ever for a process that has died. Until the processes are
// connected (ring.h), a thread of each looks ten times a second at those that its launcher has
// begun on this machine; when one of them has died, or does not come, it ends the process.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch/known_mpis.h"

#include <functional>
#include <sys/types.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The nearest process above this one whose environment lacks the variable. That is the launcher
// that has set it, or the launcher's daemon on this machine.
pid_t process_that_set(const char* variable);

// For a thread that calls it once in so many milliseconds: ends the process when one that the
// launcher has begun on this machine has died, or has not come. Looks once now.
inline constexpr int look_every_ms = 100;
std::function<void()> look_at_children(const known_mpi& mpi, pid_t launcher);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
