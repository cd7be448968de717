// SPDX-License-Identifier: MIT
// The lock of slow paths, held for a bounded number of steps. A waiter yields its processor now and
// then, since the holder may have been descheduled.
//
// The word is 0, or the number of the process in which the lock was taken. So a thread in the child
// of fork() does not wait for a holder that exists in the parent alone: what the lock guards is
// half changed, and the program ends with a message. Locks of the runtime itself begin anew there
// (child.h).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/child.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

class spin_lock {
public:
  void lock() noexcept {
    for (unsigned tries = 1;; ++tries) {
      std::uint32_t expected = 0;
      const std::uint32_t holder = word_.load(base::relaxed);
      if (holder == 0 &&
          word_.compare_exchange_strong(expected, this_process, base::acquire, base::relaxed))
        return;
      if (holder != 0 && holder != this_process)
        changing_in_parent();
      wait_briefly(tries);
    }
  }
  void unlock() noexcept { word_.store(0, base::release); }
  // In the child of fork(): nobody holds it.
  void begin_anew() noexcept { word_.store(0, base::relaxed); }

private:
  lock_word word_{0};
};

// Holds a lock while it lives, as std::lock_guard does, without the headers that <mutex> includes.
class locked {
public:
  explicit locked(spin_lock& lock) noexcept : lock_{lock} { lock_.lock(); }
  ~locked() { lock_.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;

private:
  spin_lock& lock_;
};

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
