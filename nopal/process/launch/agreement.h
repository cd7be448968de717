// SPDX-License-Identifier: MIT
// What must be alike in processes that were begun apart, each with an environment of its own.
#pragma once

#include "nopal/config.h"
#include "nopal/process/options.h"
#include "nopal/process/transport/transport.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Collective, and the first thing that the processes tell each other: what comes later relies on
// it. Compares Nopal's version, the options that all must have alike, and the addresses
// (addresses.h). Ends the program with a sentence that names the first that differs, with the
// values of two processes. `carrier` is the transport in force, `level` MPI's level of threads.
void require_agreement(group& all, const options& settings, engine carrier, const char* level);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
