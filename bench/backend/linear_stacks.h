// SPDX-License-Identifier: MIT
// Frames that never move, by the strategy that the build names (bench/baseline/linear_stacks.h).
#pragma once

#include "bench/backend/closures.h"
#include "bench/baseline/linear_stacks.h"
#include "bench/harness.h"

#include <cstdint>
#include <thread>
#include <vector>

#define BENCH_SCOPE(s) bench::linear_stacks::scope s

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;

  explicit runtime(unsigned count) {
    linear_stacks::ends = false;
    linear_stacks::workers.resize(count);
    for (unsigned i = 1; i < count; ++i)
      threads_.emplace_back(
          [i] { linear_stacks::workers[i].enter_scheduler(linear_stacks::begin_search); });
  }
  ~runtime() {
    linear_stacks::ends = true;
    for (std::thread& each : threads_)
      each.join();
    linear_stacks::workers.clear();
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  template <class F> void run(F f) {
    linear_stacks::execute([](void* given) { (*static_cast<F*>(given))(); }, &f);
  }

  counters read_counters() const {
    counters known;
    known.steals = known.suspensions = 0;
    for (const linear_stacks::worker& each : linear_stacks::workers) {
      *known.steals += each.steals;
      *known.suspensions += each.suspensions;
    }
    known.stacks = linear_stacks::stacks.number();
    known.stack_pages = linear_stacks::stacks.pages();
    return known;
  }

private:
  std::vector<std::thread> threads_;
};

} // namespace bench
