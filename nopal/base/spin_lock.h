// SPDX-License-Identifier: MIT
// The lock of slow paths, held for a bounded number of steps. A waiter yields its processor now and
// then, since the holder may have been descheduled.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

class spin_lock {
public:
  void lock() noexcept {
    for (unsigned tries = 1;; ++tries) {
      std::uint32_t expected = 0;
      if (word_.load(base::relaxed) == 0 &&
          word_.compare_exchange_strong(expected, 1, base::acquire, base::relaxed))
        return;
      wait_briefly(tries);
    }
  }
  void unlock() noexcept { word_.store(0, base::release); }

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

} // namespace nopal::base
NOPAL_HIDDEN_END
