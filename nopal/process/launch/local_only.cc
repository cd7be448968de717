// SPDX-License-Identifier: MIT
// The library without MPI: processes are forked from one.
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/launch/launch.h"

#include <cstdlib>

namespace nopal::inline NOPAL_ABI::process {
namespace {

// Each process that a launcher begins would compute all by itself, and nobody would notice.
void refuse_launcher(const char* size, const char* name, const char* library) {
  const char* const begun = std::getenv(size);
  if (begun != nullptr && std::atoi(begun) > 1)
    base::die("mpirun of %s has begun %s processes (%s), and the program is linked with "
              "nopal::process, which forks processes by itself: link nopal::%s, or begin it "
              "without mpirun and with NOPAL_PROCESSES",
              name, begun, size, library);
}

} // namespace

std::unique_ptr<launch> begin_launch(const resolved_options& options, char**) {
  if (options.transport != engine::best && options.transport != engine::local)
    base::die("NOPAL_TRANSPORT or process::options::transport asks for %s, and this program was "
              "linked with a Nopal without it; accepted is local",
              name_of(options.transport));
  refuse_launcher("OMPI_COMM_WORLD_SIZE", "Open MPI", "process_openmpi");
  refuse_launcher("PMI_SIZE", "MPICH", "process_mpich");
  return fork_processes(options);
}

} // namespace nopal::inline NOPAL_ABI::process
