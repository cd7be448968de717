// SPDX-License-Identifier: MIT
// Frames hold addresses of code and of constants, so these must be the same in every process.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/transport.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Before MPI begins. Switches the randomisation of addresses off for this process, and begins the
// program anew, once, if there is main's argv. Where the system forbids that, compare_addresses
// finds out whether it matters: of the libraries that are loaded now. Those that MPI loads when it
// begins call no function of the program back, and lie elsewhere in each process.
void fix_addresses(char** argv);

// Collective. Ends the program with a sentence if the program or one of its libraries lies at
// different addresses in two processes, or is another file.
void compare_addresses(group& all);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
