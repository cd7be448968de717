// SPDX-License-Identifier: MIT
// How a test waits for another strand where there may be one worker only.
#pragma once

#include "nopal/fiber.h"
#include "tests/api/support.h"

#include <atomic>

namespace nopal_test {

// A strand's continuation runs beside its child only where there is a second worker.
inline bool alone() { return nopal::vproc::options_in_force().num_workers.value == 1; }
inline void wait_as_fiber(const std::atomic<bool>& that) {
  while (!that)
    nopal::yield();
}

} // namespace nopal_test
