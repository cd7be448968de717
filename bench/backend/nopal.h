// SPDX-License-Identifier: MIT
// Nopal, with whichever deque the library that is linked has.
#pragma once

#include <nopal/runtime.h>

#include "bench/backend/nopal_forks.h"
#include "bench/harness.h"

#define BENCH_TASK static

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) {
    nopal::options asked;
    asked.num_workers = workers;
    nopal::configure(asked);
  }
  template <class F> void run(F f) { f(); }
  counters read_counters() const {
    const nopal::statistics now = nopal::stats();
    return {now.steals,      now.suspensions, now.unmaps,          now.stacks,
            now.stack_pages, now.page_counts, now.most_live_pages, now.most_dead_pages};
  }
};

} // namespace bench
