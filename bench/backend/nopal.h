// SPDX-License-Identifier: MIT
// Nopal, with whichever deque the library that is linked has.
#pragma once

#include "bench/backend/nopal_forks.h"
#include "bench/backend/nopal_runtime.h"

#define BENCH_TASK static

namespace bench {

class runtime : public nopal_runtime {
public:
  using nopal_runtime::nopal_runtime;
  template <class F> void run(F f) { f(); }
};

} // namespace bench
