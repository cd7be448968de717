// SPDX-License-Identifier: MIT
// What happens at a system call that the filter traps, and which calls these are.
#pragma once

#include "nopal/config.h"

#include <signal.h>
#include <span>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// The handler of SIGSYS. The signal means a trapped call, or that this process must catch up with
// the log.
void on_trap(int signal, siginfo_t* info, void* context);

// The numbers of the calls that on_trap makes otherwise, whatever their arguments are. Those that
// refusals.h names are trapped too.
std::span<const int> trapped_calls() noexcept;

// What the filter hands over with a trap, so that it is known from other signals.
inline constexpr int trap_mark = 0x4e50;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
