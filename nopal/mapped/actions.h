// SPDX-License-Identifier: MIT
// What the program wants done at each signal: one table for all processes.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstdint>
#include <signal.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// As the kernel's sigaction. The mask's bit 0 is signal 1.
struct action {
  std::uintptr_t handler; // 0 is SIG_DFL, 1 is SIG_IGN
  std::uint64_t flags;
  std::uintptr_t restorer;
  std::uint64_t mask;

  bool calls() const noexcept { return handler > 1; }
};
inline constexpr int most_signals = 64;
inline constinit action actions[most_signals + 1]{};
inline constinit base::spin_lock actions_lock; // to change them

constexpr std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }
// A blocked fault would kill; so would a trapped system call if SIGSYS were blocked.
inline constexpr std::uint64_t never_blocked = bit_of(SIGSYS) | bit_of(SIGSEGV) | bit_of(SIGBUS);

// By this signal the first process learns of ends of others, and that it must catch up. By default
// it is ignored, so it does no harm to a program that is executed meanwhile. A thread that does not
// block it is always there: a twin.
inline constexpr int notice_signal = SIGURG;

// Reads what the program began with, and installs what mapped needs itself: handlers of SIGSYS, of
// SIGSEGV and SIGBUS, and of the notices.
using handler = void (*)(int, siginfo_t*, void*);
void open_actions(handler trap, handler fault, handler notice) noexcept;
void close_actions() noexcept;
// Tells the kernel, for this process, what the table says of a signal.
void install_action(int signal) noexcept;

// Calls the program's handler, if it has one. It may leave by an exception (pthread_cancel).
void call_action(int signal, siginfo_t* info, void* context);

} // namespace nopal::mapped
NOPAL_HIDDEN_END
