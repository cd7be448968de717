// SPDX-License-Identifier: MIT
// While MPI begins, it may wait for ever for a process that has died. Until the processes are
// connected (ring.h), each looks ten times a second at how many children its launcher has on this
// machine; when one is missing, it ends.
//
// A timer's signal does that, and no thread, since a thread's memory would lie between libraries
// that MPI loads, in each process elsewhere.
#pragma once

#include "nopal/config.h"

#include <csignal>
#include <sys/types.h>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::process {

// The nearest process above this one whose environment lacks the variable. That is the launcher
// that has set it, or the launcher's daemon on this machine.
pid_t process_that_set(const char* variable);

class beginning {
public:
  // `processes`: how many the launcher begins on this machine; 0 if that is not known.
  beginning(pid_t launcher, int processes);
  ~beginning() { end(); }
  beginning(const beginning&) = delete;
  beginning& operator=(const beginning&) = delete;

  void end() noexcept;

private:
  bool ended_ = false;
  struct sigaction before_{};
};

} // namespace nopal::inline NOPAL_ABI::process
NOPAL_HIDDEN_END
