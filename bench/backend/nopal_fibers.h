// SPDX-License-Identifier: MIT
// What the backends share that run each fork as a fiber: a scope with `fork(f)` and `join()`, and a
// scheduler.
#pragma once

#include <nopal/policies.h>

#include "bench/backend/nopal_runtime.h"

#define BENCH_TASK static
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    s.fork([=] { *bench_result = fn(__VA_ARGS__); });                                              \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...) s.fork([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.join()

namespace bench {

template <class Policy> class runtime_under : public nopal_runtime {
public:
  using nopal_runtime::nopal_runtime;
  template <class F> void run(F f) { nopal::run(order_, f); }

private:
  Policy order_;
};

} // namespace bench
