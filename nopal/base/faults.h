// SPDX-License-Identifier: MIT
// Nopal's one handler of SIGSEGV, which shows each fault to several looks and then behaves as if it
// were not there; and the signal stacks that it runs on.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// A look is called at each fault of any thread, on that thread's signal stack. It ends the program,
// or returns. `context` is the ucontext_t; `is_first`: the program had no handler before.
using fault_look = void (*)(std::uintptr_t address, const void* context, bool is_first);

// The handler calls each look, and then the handler that the program had before. It has that one's
// mask and flags (whether it may interrupt itself, whether system calls go on). A signal that was
// sent (kill, raise, sigqueue) has no address, so no look is called.
//
// Precondition: one thread at a time adds and removes. At most `most_fault_looks` are registered at
// once; a look that is registered is not added again. Where the program has installed a handler
// since the first look, Nopal installs a further one above it, up to three times. False: there are
// too many looks, or the system refuses the handler.
inline constexpr unsigned most_fault_looks = 4;
bool add_fault_look(fault_look look) noexcept;
// With the last look the handler is removed, unless the program has installed another one since.
void remove_fault_look(fault_look look) noexcept;

// While this object lives, its thread has a signal stack with a guard below it. A thread that has a
// signal stack keeps that; without memory it gets none. The stack does not lie in thread-local
// memory, of which a library that is loaded while a program runs may have little.
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

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
