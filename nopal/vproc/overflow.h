// SPDX-License-Identifier: MIT
// A stack overflow ends the program with a sentence.
#pragma once

#include "nopal/config.h"
#include "nopal/stack/stack.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// A fault in the guard of one of our stacks ends the program with a sentence, and so does one below
// the calling thread's own stack, if report_overflow_of_own_stack was called there and the thread
// is one of the pool or the program had no handler of its own; any other goes to the handler that
// was there before. They need a base::signal_stack. Of a thread that has forked with another
// copy of Nopal, that copy knows the stack (sched/copies.h).
void report_stack_overflows(std::uintptr_t (*lowest_known_to_others)() noexcept);
void report_overflow_of_own_stack(bool of_pool = false) noexcept; // of the calling thread
// Of the calling thread, where it was reported; else 0.
std::uintptr_t lowest_of_this_threads_stack() noexcept;

// The same sentence if this stack has no room for a fork by the frame that contains `in_frame`.
void check_depth(const void* in_frame, stack::stack_id stack) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
