// SPDX-License-Identifier: MIT
// The lines of counters that a program on several processes ends with (NOPAL_STATS=1).
#pragma once

#include "nopal/config.h"
#include "nopal/process/launch.h"
#include "nopal/process/worker.h"

namespace nopal::inline NOPAL_ABI::process {

// Collective. Process 0 prints one line for each process, and their sum.
void print_statistics(launch& with, const transport& by, const layout& as);

// How much of the region has been used, in bytes from its upper end.
std::size_t used_region(const layout& as) noexcept;

} // namespace nopal::inline NOPAL_ABI::process
