// SPDX-License-Identifier: MIT
// Semaphores.
#include "nopal/semaphore.h"

#include <chrono>

bool semaphore_is_right() {
  nopal::semaphore permits{1};
  permits.acquire();
  const bool none =
      !permits.try_acquire() && !permits.try_acquire_for(std::chrono::microseconds(1));
  permits.release(2);
  return none && permits.try_acquire_until(std::chrono::steady_clock::now());
}
