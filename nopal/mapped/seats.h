// SPDX-License-Identifier: MIT
// An entry of the table of processes and its twin, for a process that is to begin.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

struct member;
class twin;

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
// In the new process.
void take_seat(member* self, int pid) noexcept;

void add_dependent(twin* parent) noexcept;
// This process has ended; several threads may find that out. Its twin ends, unless other processes
// are children of that.
void leave_seat(member& left, int pid) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
