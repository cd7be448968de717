// SPDX-License-Identifier: MIT
// The processes of the program: a table in shared memory.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/mapped/own.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped {

inline constexpr unsigned most_members = 1024;

// Ownership: a process that makes another claims an entry (pid: 0 to claimed). It stores
// `beginning`, makes the process, and stores its pid, for which the new one waits: if that is
// killed in its first instructions, there is somebody who knows it. The first process stores 0
// again when that process has ended.
enum class attendance : std::uint8_t { begins, there, dismissed };
struct alignas(64) member {
  static constexpr int claimed = -1, beginning = -2;
  base::atomic<int> pid{0};               // of the system; 0: there is no such process
  base::atomic<std::uint64_t> applied{0}; // entries of the log, which its owner counts (log.h)
  base::atomic<bool> applying{false};     // a thread of it applies some now
  base::atomic<attendance> attended{
      attendance::begins}; // by a thread that does nothing else (log.h)

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

inline bool is_member(int pid) noexcept {
  bool found = false;
  for_each_member([&](member& each) { found |= each.pid.load(base::relaxed) == pid; });
  return found;
}
// There was never another one.
inline bool is_only_process() noexcept { return members_used.load(base::acquire) == 1; }
inline int first_pid() noexcept { return members[0].pid.load(base::relaxed); }

// An entry of the table and its twin, for a process that is to begin.
struct seat {
  member* self;
  twin* partner;
  // Where the thread goes on that stays behind: as the twin, or to vanish.
  void* stack_top(bool as_twin) const noexcept;
};

// Claims an entry that no process has. If there is none, the program ends.
seat find_seat() noexcept;
// Under the log's lock: the new process will have applied what this one has.
void prepare_seat(member* self) noexcept;
// In the process that has made it, and in the new one.
void take_seat(member* self, int pid) noexcept;
void wait_for_seat(const member* self, int pid) noexcept;
// Some process was made, and its pid is not in the table yet. That takes no longer than a call.
bool some_begin() noexcept;

void add_dependent(twin* parent) noexcept;
// This process has ended; several threads may find that out. Its twin ends, unless other processes
// are children of that.
void leave_seat(member& left, int pid) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::mapped
NOPAL_HIDDEN_END
