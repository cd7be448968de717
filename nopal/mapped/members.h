// SPDX-License-Identifier: MIT
// The processes of the program.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/mapped/own.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

inline constexpr unsigned most_members = 1024;

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

} // namespace nopal::mapped
NOPAL_HIDDEN_END
