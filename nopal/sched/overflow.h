// SPDX-License-Identifier: MIT
// A stack overflow ends the program with a sentence.
#pragma once

#include "nopal/config.h"
#include "nopal/stack/stack.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// A fault in the guard of one of our stacks ends the program with a sentence, and so does one below
// the calling thread's own stack, if report_overflow_of_own_stack was called there and the program
// had no handler of its own; any other goes to the handler that was there before.
void report_stack_overflows();
void report_overflow_of_own_stack() noexcept; // of the calling thread
// Of the calling thread, where it was reported; else 0.
std::uintptr_t lowest_of_this_threads_stack() noexcept;

// While it lives, the calling thread has a signal stack, on which it reports an overflow. That is
// not thread-local: a shared library that holds Nopal could not be loaded while a program runs.
class signal_stack {
public:
  signal_stack() noexcept;
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

private:
  void* memory_ = nullptr; // null: the thread had one before, or there is no memory
};

// The same sentence if this stack has no room for a fork by the frame that contains `in_frame`.
void check_depth(const void* in_frame, stack::stack_id stack) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
