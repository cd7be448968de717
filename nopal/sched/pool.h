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

// Starts the pool if it does not run yet.
void start() noexcept;
// Starts one more pool thread than were asked for.
void start_spare();
// Starts a thread that runs no strands, and lives as long as the process. The purpose completes
// the message "cannot start the thread that ...".
void start_helper(void* (*body)(void*) noexcept, const char* purpose);

// For tests, before the first fork: every fork publishes at once, and about three in four, chosen
// with the seed, wait until a thief has taken the continuation (or no thief came for a while). Each
// fork then also takes the path of kernels without the heavy barrier.
void force_steals(std::uint64_t seed);
bool steals_forced() noexcept;
// 0: workers are real; else one thread stands for so many (config/options.h).
unsigned virtual_workers() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
