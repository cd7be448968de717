// SPDX-License-Identifier: MIT
// What the backends share that run each fork as a fiber: a scope with `fork(f)` and `join()`, and a
// scheduler.
#pragma once

#include <nopal/policies.h>

#include "bench/backend/closures.h"
#include "bench/backend/nopal_runtime.h"

namespace bench {

template <class Policy> class runtime_under : public nopal_runtime {
public:
  using nopal_runtime::nopal_runtime;
  template <class F> void run(F f) { nopal::run(order_, f); }

private:
  Policy order_;
};

} // namespace bench
