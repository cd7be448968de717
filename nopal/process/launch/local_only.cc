// SPDX-License-Identifier: MIT
// The library without MPI: the program forks its processes (local.cc).
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/config/environment.h"
#include "nopal/process/launch/known_mpis.h"
#include "nopal/process/launch/launch.h"

#include <cstdlib>

namespace nopal::inline NOPAL_ABI::process {

std::unique_ptr<launch> begin_launch(const options& settings) {
  if (settings.transport != engine::best && settings.transport != engine::local)
    base::die("NOPAL_TRANSPORT or process::options::transport asks for %s, and this program was "
              "linked with a Nopal without it; accepted is local",
              name_of(settings.transport));
  // Else each process that the launcher has begun would compute all by itself, unnoticed.
  if (const known_mpi* const mpi = mpi_of_several())
    base::die("mpirun of %s has begun %s processes (%s), and the program is linked with "
              "nopal::process, which forks processes by itself: link nopal::%s, or begin it "
              "without mpirun and with NOPAL_PROCESSES",
              mpi->name, config::variable(mpi->size), mpi->size, mpi->library);
  return fork_processes(settings);
}

} // namespace nopal::inline NOPAL_ABI::process
