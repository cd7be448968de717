// SPDX-License-Identifier: MIT
// What ends a program whose tasks outgrow the region, in words.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Called by the thread that runs tasks. Nothing may touch the guard below the region from now on: a
// task that does ends the program with a sentence that names the size and the option.
void guard_region(const layout& memory);
void unguard_region() noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
