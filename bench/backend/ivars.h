// SPDX-License-Identifier: MIT
// Nopal's fibers in the place of its forks: each fork is a fiber that sets an ivar, under work
// stealing, as Manticore's paper schedules parallel bindings (manticore-icfp08, Figure 5).
#pragma once

#include <nopal/future.h>
#include <nopal/policies.h>
#include <nopal/runtime.h>

#include <forward_list>

#include "bench/harness.h"

#define BENCH_TASK static
#define BENCH_SCOPE(s) bench::fiber_scope s
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    s.fork([=] { *bench_result = fn(__VA_ARGS__); });                                              \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...) s.fork([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.join()

namespace bench {

class fiber_scope {
public:
  template <class F> void fork(F child) {
    nopal::ivar<bool>* const done = first_used_ ? &more_.emplace_front() : &first_;
    first_used_ = true;
    nopal::spawn([=] {
      child();
      done->set(true);
    });
  }
  void join() noexcept {
    if (first_used_)
      first_.get();
    for (nopal::ivar<bool>& each : more_)
      each.get();
  }

private:
  nopal::ivar<bool> first_;
  bool first_used_ = false;
  std::forward_list<nopal::ivar<bool>> more_;
};

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) { nopal::configure({.num_workers = workers}); }
  template <class F> void run(F f) { nopal::run(order_, f); }
  counters read_counters() const {
    counters now;
    now.steals = nopal::stats().steals;
    return now;
  }

private:
  nopal::work_stealing order_;
};

} // namespace bench
