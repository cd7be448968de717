// SPDX-License-Identifier: MIT
// Nopal's one-touch futures instead of its forks, under a gang, as Manticore's paper schedules
// data parallelism (manticore-icfp08, section 4): a fork is a future, and the join touches each.
#pragma once

#include <nopal/future.h>

#include <vector>

#include "bench/backend/nopal_fibers.h"

// The paper's arrays are trees whose leaves have many entries, so that futures are few.
#define BENCH_ARRAY_PIECE 64
#define BENCH_SCOPE(s) bench::future_scope s

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

using runtime = runtime_under<nopal::gang>;

} // namespace bench
