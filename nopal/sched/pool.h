// SPDX-License-Identifier: MIT
//
// Starting the pool, and its options.
#pragma once

#include "nopal/base/options.h"
#include "nopal/config.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::sched {

// Ends the program with a sentence if the pool has started.
void set_options(const base::options& asked);
// Resolves them when first asked for.
const base::resolved_options& options_in_force();

// For tests, before the first fork: every fork publishes at once, and about three in four, chosen
// with the seed, wait until a thief has taken the continuation (or nobody came for a while). Each
// fork then also takes the path of kernels without the heavy barrier.
void force_steals(std::uint64_t seed);
bool steals_forced() noexcept;

// The body of a pool thread; `scheduler_stack` lies below its caller's frame.
[[noreturn]] void start_pool_thread(vproc::worker* self, vproc::seat* place,
                                    std::uintptr_t scheduler_stack) noexcept;

// A fault in the guard of one of our stacks ends the program with a sentence, and so does one below
// the calling thread's own stack, if that was told and the program had no handler of its own; any
// other goes to the handler that was there before.
void report_stack_overflows();
void report_overflow_of_own_stack() noexcept; // of the calling thread

// The same sentence if there is no room on this stack for a fork of the frame that this is in.
void check_depth(const void* in_frame, stack::stack_id stack) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
