// SPDX-License-Identifier: MIT
// While MPI begins, it may wait for ever for a process that has died. Until the processes are
// connected (ring.h), a thread of each looks ten times a second at how many children its launcher
// has on this machine; when one is missing, it ends the process.
#pragma once

#include "nopal/config.h"

#include <sys/types.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The nearest process above this one whose environment lacks the variable. That is the launcher
// that has set it, or the launcher's daemon on this machine.
pid_t process_that_set(const char* variable);

// The thread that looks is the only user.
class beginning {
public:
  static constexpr int every_ms = 100;

  // `processes`: how many the launcher begins on this machine; 0 if that is not known.
  beginning(pid_t launcher, int processes) noexcept : launcher_{launcher}, known_{processes} {}

  // Called once in `every_ms`.
  void look();

private:
  int count_children() const;

  const pid_t launcher_;
  const int known_;
  int most_ = 0;  // children that there were at a time
  int looks_ = 0; // so far
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
