// SPDX-License-Identifier: MIT
// The MPIs whose launchers are known, by the variables that these set for a process.
#pragma once

#include "nopal/config.h"
#include "nopal/config/environment.h"

#include <cstdlib>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

struct known_mpi {
  const char* name; // as its library says it
  const char* launcher;
  const char* library;         // of Nopal, that goes with it
  const char* size;            // how many processes there are
  const char* number;          // of this one, also if another launcher of its kind has begun it
  const char* size_on_machine; // how many there are on this machine
};
inline constexpr known_mpi known_mpis[] = {
    {"Open MPI", "mpirun of Open MPI (mpirun.openmpi)", "process_openmpi", "OMPI_COMM_WORLD_SIZE",
     "PMIX_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH", "mpirun of MPICH (mpirun.mpich)", "process_mpich", "PMI_SIZE", "PMI_RANK",
     "MPI_LOCALNRANKS"},
};

// The MPI whose launcher has begun this process and others; null if none has.
inline const known_mpi* mpi_of_several() noexcept {
  for (const known_mpi& each : known_mpis)
    if (const char* const size = config::variable(each.size);
        size != nullptr && std::atoi(size) > 1)
      return &each;
  return nullptr;
}

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
