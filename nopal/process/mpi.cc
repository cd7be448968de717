// SPDX-License-Identifier: MIT
// MPI's own one-sided operations as a transport.
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/engines.h"

namespace nopal::inline NOPAL_ABI::process {

std::unique_ptr<transport> connect_by_mpi(launch&, const layout&) {
  base::die("the transport mpi is not implemented; accepted are ucx and local");
}

} // namespace nopal::inline NOPAL_ABI::process
