// SPDX-License-Identifier: MIT
// Options and statistics.
#include "nopal/runtime.h"

bool runtime_is_right() {
  void (*const configure)(const nopal::options&) = nopal::configure; // before the first fork alone
  const nopal::statistics now = nopal::stats();
  static_cast<void>(configure);
  return nopal::num_workers() >= 1 && nopal::suppressed_exceptions() == 0 && now.steals + 1 > 0;
}
