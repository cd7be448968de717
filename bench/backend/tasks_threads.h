// SPDX-License-Identifier: MIT
// Tasks on the threads of one process: the time of several processes can at best be theirs.
#pragma once

#include <nopal/runtime.h>

#include "bench/backend/nopal_forks.h"
#include "bench/backend/tasks_by_forks.h"
#include "bench/harness.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#define BENCH_TASK static

namespace bench {

class task_runtime {
public:
  static constexpr bool parallel = true;

  // Each stack is as large as the region of a process, or as large as a stack may be.
  task_runtime(unsigned workers, std::size_t region_size, char**) {
    nopal::options asked;
    asked.num_workers = workers;
    asked.stack_size = std::clamp(region_size, std::size_t{1} << 20, std::size_t{32} << 20);
    nopal::configure(asked);
  }

  bool speaks() const { return true; }
  template <class F> auto run(F f) { return f(); }
  counters read_counters() const {
    const nopal::statistics now = nopal::stats();
    counters all;
    all.steals = now.steals;
    all.suspensions = now.suspensions;
    all.stacks = now.stacks;
    all.stack_pages = now.stack_pages;
    return all;
  }
  std::map<std::string, double> metrics() const { return {}; }
};

} // namespace bench
