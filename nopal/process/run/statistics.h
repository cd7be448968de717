// SPDX-License-Identifier: MIT
// The lines of counters that a program on several processes ends with (NOPAL_STATS=1), and those
// of a long run (NOPAL_PROGRESS).
#pragma once

#include "nopal/config.h"
#include "nopal/process/run/worker.h"
#include "nopal/process/transport/transport.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Collective. Process 0 prints one line for each process, and their sum. `engine` is the name of
// what carries data.
void print_statistics(group& all, const char* engine, const layout& memory);

// Says what this process has done so far. Any thread may call it; what it reads of the counts may
// be a little old.
void print_progress(unsigned seconds, unsigned processes);

// How much of the region has been used, in bytes from its upper end.
std::size_t used_region(const layout& memory) noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
