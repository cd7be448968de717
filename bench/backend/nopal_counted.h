// SPDX-License-Identifier: MIT
// Nopal with atomics that count: what a run of the problem did to other threads' cache lines, and
// its steals (counted/directory.h). Before each fork a thread lets the others run, so that on few
// processors all make progress alike, as if each had one; else thieves would find only victims that
// stand still, and few of them.
#pragma once

#include "bench/backend/nopal_runtime.h"
#include "bench/counted/parts.h"

#include <nopal/fork.h>

#include <sched.h>

#include <map>
#include <string>

#define BENCH_TASK static
#define BENCH_SCOPE(s) nopal::scope s
#define BENCH_FORK(s, result, fn, ...)                                                             \
  sched_yield();                                                                                   \
  s.fork(result, [](auto... arguments) { return fn(arguments...); }, __VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...)                                                                \
  sched_yield();                                                                                   \
  s.fork([](auto... arguments) { fn(arguments...); }, __VA_ARGS__)
#define BENCH_JOIN(s) s.join()

namespace bench {

class runtime : public nopal_runtime {
public:
  explicit runtime(unsigned workers) : nopal_runtime(workers) {
    counted::tell_parts(&counted::parts_of_nopal);
  }

  template <class F> void run(F f) {
    const counted::totals before = counted::so_far();
    const std::uint64_t steals_before = steals();
    f();
    const counted::totals after = counted::so_far();
    metrics_["steals"] = static_cast<double>(steals() - steals_before);
    for (std::size_t i = 0; i < after.size(); ++i)
      metrics_[counted::names[i]] = static_cast<double>(after[i] - before[i]);
  }

  std::map<std::string, double> metrics() const { return metrics_; }

private:
  static std::uint64_t steals() {
    const counted::unnoticed looking;
    return nopal::stats().steals;
  }

  std::map<std::string, double> metrics_;
};

} // namespace bench
