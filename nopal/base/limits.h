// SPDX-License-Identifier: MIT
// The limits on a process's memory: what they leave, and which of them has refused some; and what
// else the kernel says of the process.
//
// They may change at any time, and so may what is locked (mlockall), so each function asks anew.
#pragma once

#include "nopal/config.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// How many bytes of addresses may be reserved: what RLIMIT_AS leaves, and RLIMIT_MEMLOCK where all
// future memory is locked. Without such a limit, all.
std::size_t address_space_left() noexcept;
// The limit that leaves the least, as the subject of "... allows"; null: there is no limit.
const char* what_limits_addresses() noexcept;

// Whether writable memory counts before it is touched: RLIMIT_DATA, or vm.overcommit_memory=2.
bool writable_memory_is_limited() noexcept;

// How many mappings a process may have (vm.max_map_count); 65530 if the kernel does not say.
std::size_t max_mappings() noexcept;

// The threads that the process has; 0 if the kernel does not say. Where threads are processes
// (shared.h), perhaps more than there are.
std::size_t threads_now() noexcept;
// Whether the process handles signals other than those of faults and of the C library.
bool handles_signals() noexcept;

// Whether the kernel keeps the page at this address in memory (mlock, mlockall). Precondition: it
// comes from `reserve` and was not used yet, since this may discard it.
bool is_locked(void* at) noexcept;

// Why the kernel has just refused so many bytes, or a thread with a stack of so many, and what to
// do: a part of a sentence.
struct reason {
  char text[320];
};
reason why_refused(std::size_t bytes) noexcept; // the error is in errno
reason why_no_thread(int error, std::size_t stack_bytes) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
