// SPDX-License-Identifier: MIT
// Children: all are the first process's, whichever process made them; and how the end of a process
// of the program is noticed.
#pragma once

#include "nopal/config.h"

#include <signal.h>
#include <ucontext.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// wait4 and waitid.
long wait4(long which, int* status, long options, void* usage, ucontext_t& context) noexcept;
long waitid(long kind, long which, void* info, long options, void* usage,
            ucontext_t& context) noexcept;

// A process other than the first has forked a child.
void note_child(long pid) noexcept;
void forget_children() noexcept;

// In the first process, at SIGSYS: a process of the program has ended, or a child of it.
void attend_to_ends(const siginfo_t& notice) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
