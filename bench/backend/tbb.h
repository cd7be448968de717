// SPDX-License-Identifier: MIT
// oneTBB's task_group, in an arena of exactly the workers asked for.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench/harness.h"

#define BENCH_TASK static
#define BENCH_SCOPE(s) tbb::task_group s
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    s.run([=] { *bench_result = fn(__VA_ARGS__); });                                               \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...) s.run([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.wait()

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers)
      : limit_(tbb::global_control::max_allowed_parallelism, workers),
        arena_(static_cast<int>(workers)) {}
  template <class F> void run(F f) { arena_.execute(f); }
  counters read_counters() const { return {}; }

private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

} // namespace bench
