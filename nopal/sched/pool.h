// SPDX-License-Identifier: MIT
// Starting the pool, and its options.
#pragma once

#include "nopal/config.h"
#include "nopal/config/options.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Ends the program with a sentence if the pool has started, or the options are decided.
void set_options(const config::options& asked);
// Decides them when first asked for; after that they are fixed.
const config::resolved_options& options_in_force();

// Starts the pool if it does not run.
void start() noexcept;
// Ends it (pool_threads.h). Ends the program with a sentence if a computation runs.
void stop();
// For tests, before the first fork: every fork publishes at once, and about three in four, chosen
// with the seed, wait until a thief has taken the continuation (or no thief came for a while). Each
// fork then also takes the path of kernels without the heavy barrier.
void force_steals(std::uint64_t seed);
bool steals_forced() noexcept;
// 0: workers are real; else one thread stands for so many (config/options.h).
unsigned virtual_workers() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
