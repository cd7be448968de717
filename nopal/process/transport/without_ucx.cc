// SPDX-License-Identifier: MIT
// In the place of ucx.cc, for a library that is built where UCX is not installed.
#include "nopal/base/die.h"
#include "nopal/config.h"
#include "nopal/process/transport/engines.h"

namespace nopal::inline NOPAL_ABI::process {

bool has_ucx() noexcept { return false; }

std::unique_ptr<transport> connect_by_ucx(launch&, const layout&) {
  base::die("NOPAL_TRANSPORT or process::options::transport asks for ucx, and this program was "
            "linked with a Nopal that was built without UCX; accepted are mpi and local");
}

} // namespace nopal::inline NOPAL_ABI::process
