// SPDX-License-Identifier: MIT
// Handlers of SIGSEGV that look at a fault first and leave what is not theirs to the handler that
// was there before, as if they were not there; and the signal stacks that they run on.
#pragma once

#include "nopal/config.h"

#include "nopal/base/atomic.h"

#include <signal.h>

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

// One handler, and what was there before. An object for each handler, which lives for good.
class fault_handler {
public:
  using function = void (*)(int, siginfo_t*, void*);

  // Both by one thread at a time.
  // On the thread's signal stack. False: the system refuses. It inherits from the handler before
  // what that has asked for: its mask, whether it may interrupt itself, whether calls go on.
  bool install(function own) noexcept;
  // If nobody has installed another one since.
  void uninstall() noexcept;

  // Whether this is a fault of the calling thread; else it was sent (kill, raise, sigqueue), and
  // has no address.
  static bool is_fault(const siginfo_t* info) noexcept { return info->si_code > 0; }
  // Whether nobody handled the signal before.
  bool is_first() const noexcept;
  // To be called last, by the handler: does what would have been done without it.
  void pass_on(int signal, siginfo_t* info, void* context) noexcept;

private:
  bool is_default() const noexcept;

  bool installed_ = false;
  struct sigaction own_{};
  struct sigaction previous_{};
  atomic<bool> spent_{false}; // the previous one was to be called once (SA_RESETHAND)
};

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
