// SPDX-License-Identifier: MIT
// A stack overflow ends the program with a message that says what to raise.
#pragma once

#include "nopal/config.h"
#include "nopal/stack/stack.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Installs the handler. It ends the program at a fault
//   - in the guard of one of our stacks;
//   - below the own stack of a thread that has called report_overflow_of_own_stack, if it is a pool
//     thread or the program had no handler of its own.
// Any other fault goes to the handler that was there before. The faulting thread needs a
// base::signal_stack. If it has forked with another copy of Nopal, that copy knows its stack
// (sched/copies.h).
void report_stack_overflows(std::uintptr_t (*lowest_known_to_others)() noexcept);
void report_overflow_of_own_stack(bool of_pool = false) noexcept;
// The lowest address of the calling thread's own stack, if it has called that; else 0.
std::uintptr_t lowest_of_this_threads_stack() noexcept;

// Precondition, checked: this stack has room for a fork by the frame that contains `in_frame`.
void check_depth(const void* in_frame, stack::stack_id stack) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
