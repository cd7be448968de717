// SPDX-License-Identifier: MIT
// Nopal's fibers instead of its forks: each fork is a fiber that sets an ivar, under work
// stealing, as Manticore's paper schedules parallel bindings (manticore-icfp08, Figure 5).
#pragma once

#include <nopal/future.h>

#include <forward_list>

#include "bench/backend/nopal_fibers.h"

#define BENCH_SCOPE(s) bench::fiber_scope s

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

using runtime = runtime_under<nopal::work_stealing>;

} // namespace bench
