// SPDX-License-Identifier: MIT
// What a process that was made by fork() does before it goes on: it copies all that was shared.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// Before the fork, and in the process that called it until the copy is made.
void begin_snapshot() noexcept;
void wait_for_snapshot() noexcept;

// In the new process, on a private stack: nothing that was shared is shared when this returns, and
// the process is the first and only one of its program.
void take_snapshot() noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
