// SPDX-License-Identifier: MIT
// Frames hold addresses of code and of constants, so these must be the same in every process.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/transport.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// A process that a launcher has begun switches the randomisation of addresses off before main, and
// begins the program anew, once. Where the system forbids that, compare_addresses finds out whether
// it matters: of the libraries that were loaded when this was called, or else before main. Those
// that MPI loads when it begins call no function of the program back, and lie elsewhere in each
// process.
void note_libraries();

// Collective. Ends the program with a sentence if the program or one of its libraries lies at
// different addresses in two processes, or is another file.
void compare_addresses(group& all);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
