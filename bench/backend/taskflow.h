// SPDX-License-Identifier: MIT
// Taskflow, by path: a scope is a task group, which only a worker of the executor may have.
#pragma once

#include <taskflow/taskflow.hpp>

#include "bench/harness.h"

#define BENCH_TASK static
#define BENCH_SCOPE(s) tf::TaskGroup s = bench::runtime::executor().task_group()
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    s.silent_async([=] { *bench_result = fn(__VA_ARGS__); });                                      \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...) s.silent_async([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.corun()

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) : executor_(workers) { current = &executor_; }
  template <class F> void run(F f) { executor_.async(f).get(); }
  counters read_counters() const { return {}; }

  // The executor from which the scopes take their groups.
  static tf::Executor& executor() { return *current; }

private:
  static inline tf::Executor* current = nullptr;
  tf::Executor executor_;
};

} // namespace bench
