// SPDX-License-Identifier: MIT
// The MPIs whose launchers are known, by the variables that these set for a process.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

struct known_mpi {
  const char* name; // as its library says it
  const char* launcher;
  const char* library;   // of Nopal, that goes with it
  const char* size;      // how many processes there are
  const char* number;    // of this one, also if another launcher of its kind has begun it
  const char* size_here; // how many there are on this machine
};
inline constexpr known_mpi known_mpis[] = {
    {"Open MPI", "mpirun of Open MPI (mpirun.openmpi)", "process_openmpi", "OMPI_COMM_WORLD_SIZE",
     "PMIX_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "mpirun of MPICH (mpirun.mpich)", "process_mpich", "PMI_SIZE", "PMI_RANK",
     "MPI_LOCALNRANKS"},
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
