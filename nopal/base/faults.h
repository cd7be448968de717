// SPDX-License-Identifier: MIT
// Handlers of SIGSEGV that look at a fault first and leave what is not theirs to the handler that
// was there before, as if they were not there; and the signal stacks that they run on.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

// Called at each fault of a thread, on its signal stack: ends the program, or returns. `context` is
// the ucontext_t; `is_first`: nobody handled the signal before Nopal.
using fault_look = void (*)(std::uintptr_t address, const void* context, bool is_first);

// Nopal's handler calls each look, and then does what would have been done without the handler: it
// inherits from the handler that was there before what that one has asked for (its mask, whether it
// may interrupt itself, whether calls go on), and calls it. A signal that was sent (kill, raise,
// sigqueue) has no address, and no look hears of it.
//
// By one thread at a time. At most `most_fault_looks` at once; a look that is there is not added
// again. Where the program has installed a handler since the first look, Nopal installs another one
// above it, up to three times. False: the system refuses.
inline constexpr unsigned most_fault_looks = 4;
bool add_fault_look(fault_look look) noexcept;
// The last one to go takes the handler away, if nobody has installed another one since.
void remove_fault_look(fault_look look) noexcept;

// While it lives, the calling thread has a signal stack, with a guard below; unless it had one, or
// there is no memory. That is not thread-local: a shared library that holds Nopal could not be
// loaded while a program runs.
class signal_stack {
public:
  signal_stack() noexcept;
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace nopal::base
NOPAL_HIDDEN_END
