// SPDX-License-Identifier: MIT
// A thread that runs no strands waits here, once, for what would make a fiber ready.
//
// Contract: the thread that was woken sees what was written before the `wake`.
// Orders:
//   U  wake: store release. Partner: the acquire load of the wait.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class thread_waker {
public:
  void wait() noexcept {
    while (woken_.load(base::acquire) == 0) // U
      base::futex_wait(woken_, 0);
  }

  // This object may be gone before this returns; a wake-up at its old address harms nobody.
  void wake() noexcept {
    base::atomic<std::uint32_t>& woken = woken_;
    woken.store(1, base::release); // U
    base::futex_wake_one(woken);
  }

private:
  base::atomic<std::uint32_t> woken_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
