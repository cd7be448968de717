// SPDX-License-Identifier: MIT
// What ends a program whose tasks outgrow the region, or that spawns and joins elsewhere, in words;
// and the mark by which frames are checked.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/transport.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Called by the thread that runs tasks. Nothing may touch the guard below the region from now on: a
// task that does ends the program with a sentence that names the size and the option.
void guard_region(const layout& memory);
void unguard_region() noexcept;

// Ends the program with a sentence if the caller, in this function of the interface, does not run
// on the region: then it is no task.
[[gnu::cold]] void require_region(const char* function) noexcept;

// Collective. Frames hold the canary of the process that made them, and others check it when they
// return. So all processes run tasks under that of process 0, which this returns.
std::uint64_t common_canary(group& all);

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
