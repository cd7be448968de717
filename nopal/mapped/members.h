// SPDX-License-Identifier: MIT
// The processes of the program: a table in shared memory, and what is private to each.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/mapped/layout.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

inline constexpr unsigned most_members = 1024;
class twin;

// Ownership: a process that makes another claims an entry (pid: 0 to claimed), and the new one
// stores its pid; the first process stores 0 again when that process has ended.
struct alignas(64) member {
  static constexpr int claimed = -1;
  base::atomic<int> pid{0};               // of the system; 0: there is no such process
  base::atomic<std::uint64_t> applied{0}; // entries of the log, which its owner counts (log.h)
  base::atomic<bool> applying{false};     // a thread of it applies some now

  bool is_alive() const noexcept { return pid.load(base::acquire) > 0; }
};
inline constinit member members[most_members]{};         // [0] is the first process
inline constinit base::atomic<unsigned> members_used{1}; // entries beyond were never claimed

// Calls visit(member) for each process.
template <class Visit> void for_each_member(Visit visit) noexcept {
  for (unsigned i = 0; i < members_used.load(base::acquire); ++i)
    if (members[i].is_alive())
      visit(members[i]);
}

inline int first_pid() noexcept { return members[0].pid.load(base::relaxed); }

// What is private to each process. All other variables of the program are shared.
struct own_state {
  int pid;           // the system's, not what getpid says
  bool is_first;     // the process that the system began, or one that was forked from it
  member* self;      // its entry in the table of processes
  twin* partner;     // null in the first process
  int* thread_id_at; // in the control block of the thread that became this process
  base::atomic<std::uintptr_t> last_fault; // which, when and whose
};

inline own_state& own() noexcept { return *reinterpret_cast<own_state*>(layout::own); }

// The top of a stack that is private to the process. One thread of a process uses it at a time.
inline void* own_stack_top() noexcept {
  return reinterpret_cast<void*>(layout::own + layout::own_bytes);
}

// An entry of the table and its twin, for a process that is to begin.
struct seat {
  member* self;
  twin* partner;
  // Where the thread goes on that stays behind: as the twin, or to vanish.
  void* stack_top(bool as_twin) const noexcept;
};

// Claims an entry that no process has. If there is none, the program ends.
seat find_seat() noexcept;
// This process has ended; several threads may find that out. Its twin ends, unless other processes
// are children of that.
void leave_seat(member& left, int pid) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
