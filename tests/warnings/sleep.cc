// SPDX-License-Identifier: MIT
// Sleeps.
#include "nopal/sleep.h"

#include <chrono>

bool sleep_is_right() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
  nopal::sleep_until(until);
  nopal::sleep_for(std::chrono::microseconds(1));
  return std::chrono::steady_clock::now() >= until;
}
