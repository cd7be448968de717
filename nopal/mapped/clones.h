// SPDX-License-Identifier: MIT
// How processes begin and threads end: clone(2) in all its uses.
#pragma once

#include "nopal/config.h"

#include <ucontext.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// The first process has its entry in the table, and its private page.
void open_processes() noexcept;

// fork(), and vfork() as fork: the process that it makes has copies. `stack`: of the new process;
// 0: the caller's.
long fork_process(long flags, long stack, int* child_tid, ucontext_t& context) noexcept;

// The exit of a thread, and of the program.
[[noreturn]] void end_thread(long code) noexcept;
[[noreturn]] void end_program(long code) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
