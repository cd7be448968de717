// SPDX-License-Identifier: MIT
// Work that ends only when it is cancelled.
#pragma once

#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <atomic>

namespace nopal_test {

struct counted_end {
  ~counted_end() { ended += 1; }
  std::atomic<int>& ended;
};

[[noreturn]] inline void poll_for_ever() {
  for (;;)
    nopal::poll();
}

inline int endless(gate& running) {
  running.open();
  poll_for_ever();
}

inline int endless(std::atomic<int>& ended) {
  const counted_end end{ended};
  poll_for_ever();
}

} // namespace nopal_test
