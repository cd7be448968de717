// SPDX-License-Identifier: MIT
// The options that are in force, and the two ways in which tests make schedules rare or repeatable.
//
// Thread rules: any thread.
#pragma once

#include "nopal/config.h"
#include "nopal/config/options.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Sets the options that the program asks for. Precondition, checked: the options are not decided.
void set_options(const config::options& asked);
// Sets the number of workers alone. False: the options are decided.
bool set_num_workers(unsigned number);
// The options that the program has asked for. Its callbacks are used as they are.
const config::options& options_asked() noexcept;
// Decides the options when they are first asked for; they are fixed after that.
const config::resolved_options& options_in_force();
// The same, called at the first fork: set_options names that as its reason from now on.
const config::resolved_options& options_at_first_fork();

// Tests call this before the first fork: every fork then publishes at once, on the path of kernels
// without the heavy barrier, and about three in four, chosen with the seed, wait until a thief has
// taken the continuation (or no thief came for a while).
void force_steals(std::uint64_t seed);
bool steals_forced() noexcept;
// 0: workers are real; n: one thread stands for n workers (config/options.h).
unsigned virtual_workers() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
