// SPDX-License-Identifier: MIT
// The library without MPI: processes are forked from one.
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/launch.h"

namespace nopal::inline NOPAL_ABI::process {

std::unique_ptr<launch> begin_launch(const resolved_options& options, char**) {
  if (options.transport != engine::best && options.transport != engine::local)
    base::die("NOPAL_TRANSPORT or process::options::transport asks for %s, and this program was "
              "linked with a Nopal without it; accepted is local",
              options.transport == engine::ucx   ? "ucx"
              : options.transport == engine::mpi ? "mpi"
                                                 : "mpi_messages");
  return fork_processes(options);
}

} // namespace nopal::inline NOPAL_ABI::process
