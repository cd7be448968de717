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

// The handler of notices.
void on_notice(int signal, siginfo_t* info, void* context);

} // namespace nopal::mapped
NOPAL_HIDDEN_END
