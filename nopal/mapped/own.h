// SPDX-License-Identifier: MIT
// What is private to each process. All other variables of the program are shared.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/mapped/layout.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

struct member;
class twin;

struct own_state {
  int pid;           // the system's, not what getpid says
  bool is_first;     // the process that the system began, or one that was forked from it
  member* self;      // its entry in the table of processes
  twin* partner;     // null in the first process
  int* thread_id_at; // in the control block of the thread that became this process
  base::atomic<std::uintptr_t> last_fault; // which, when and whose
  base::atomic<bool> has_attendant;        // a thread that attends to the log is to be there
};

inline own_state& own() noexcept { return *reinterpret_cast<own_state*>(layout::own); }

// The top of a stack that is private to the process. One thread of a process uses it at a time.
inline void* own_stack_top() noexcept {
  return reinterpret_cast<void*>(layout::own + layout::own_bytes);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
