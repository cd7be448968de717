// SPDX-License-Identifier: MIT
// Check builds: whether frames that have come from another process point to what only that one has.
#pragma once

#include "nopal/config.h"
#include "nopal/process/transport/layout.h"
#include "nopal/process/transport/segment.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// Says, once for each address, which word of the frames points into the stack of another task, into
// memory that one process has allocated, into a thread's variables, or into its stack; and in which
// function. The frames lie on this process's region, and addresses are judged by what this
// process has mapped, since the processes of a program are alike. A word that is dead, which the
// task has left from before, looks like one that is not: so the program goes on.
void check_isolation(const layout& memory, segment arrived);

// When a task is spawned: says the same of what it is given, once for each such task; of a lambda
// that captures by reference, for instance. `types` name the function and the arguments.
void check_given(const void* bytes, std::size_t size, const char* types) noexcept;

// Before a task begins: what other tasks have left where its frames will be, for 4 KiB, is gone. So
// dead words of its frames are its own.
void clear_stack_below() noexcept;

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
