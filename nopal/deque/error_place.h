// SPDX-License-Identifier: MIT
// Where the errno of the strand is whose forks a deque holds: that of a thread, or of a strand that
// waits.
//
// The errno of a continuation is read when it becomes public, while its fork cannot close. So it is
// what it was at the fork, or what the child has set since, as after any call, and never that of
// another strand.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::deque {

class error_place {
public:
  // Owner. Null: no strand, and errno counts as 0.
  void set(const int* error) noexcept { place_.store(error, base::relaxed); }
  // Any thread, while an open fork of the deque cannot close.
  int read() const noexcept {
    const int* const error = place_.load(base::relaxed);
    return error == nullptr ? 0 : base::read_error(error);
  }

private:
  base::atomic<const int*> place_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI::deque
NOPAL_HIDDEN_END
