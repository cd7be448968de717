// SPDX-License-Identifier: MIT
// What the system must offer before processes begin, and what it is freed from. Where it lacks
// something, the program ends with a sentence that names it and what is accepted, before a library
// meets it.
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch/known_mpis.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The processes know each other by /proc.
void require_proc();
// That this process may open so many more files at a time, for so many processes.
void require_files(unsigned more, unsigned processes);
// The same for what MPI and UCX open at least, as far as measured, before they meet it.
void require_files_of_mpi(const known_mpi& mpi);
// MPICH begins with a file in /dev/shm, if it can write there. Where the file is larger than what
// is free, MPICH dies by a signal.
void require_shared_files_of_mpich();

// Processes that are killed while MPICH or UCX begins leave files in /dev/shm. Removes those that
// belong to this user and that no process has open or mapped, and says so.
void remove_what_killed_processes_left();

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
