// SPDX-License-Identifier: MIT
// Nopal's one-touch futures in the place of its forks, under a gang, as Manticore's paper schedules
// data parallelism (manticore-icfp08, section 4): a fork is a future, and the join touches each.
#pragma once

#include <nopal/future.h>
#include <nopal/policies.h>
#include <nopal/runtime.h>

#include <vector>

#include "bench/harness.h"

// The paper's arrays are trees whose leaves have many entries, so that futures are few.
#define BENCH_ARRAY_PIECE 64
#define BENCH_TASK static
#define BENCH_SCOPE(s) bench::future_scope s
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    s.fork([=] { *bench_result = fn(__VA_ARGS__); });                                              \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...) s.fork([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.join()

namespace bench {

class future_scope {
public:
  template <class F> void fork(F child) {
    all_.emplace_back([child] {
      child();
      return true;
    });
  }
  void join() {
    for (; !all_.empty(); all_.pop_back())
      all_.back().touch();
  }

private:
  std::vector<nopal::future1<bool>> all_;
};

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) { nopal::configure({.num_workers = workers}); }
  template <class F> void run(F f) { nopal::run(gang_, f); }
  counters read_counters() const {
    counters now;
    now.steals = nopal::stats().steals;
    return now;
  }

private:
  nopal::gang gang_;
};

} // namespace bench
