// SPDX-License-Identifier: MIT
// What ends a program whose tasks outgrow the region, in words.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The calling thread is the one that runs tasks. The guard below the region has no access from now
// on; who touches it ends the program with a sentence that names the size and the option. Other
// faults go where they went before.
void guard_region(const layout& as);
void unguard_region() noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
