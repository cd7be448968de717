// SPDX-License-Identifier: MIT
// The worker of this process.
#include "nopal/process/run/worker.h"

namespace nopal::inline NOPAL_ABI::process {

worker this_worker;

} // namespace nopal::inline NOPAL_ABI::process
