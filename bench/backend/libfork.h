// SPDX-License-Identifier: MIT
// libfork, by path: continuation stealing over coroutines, on its pool whose idle workers sleep.
#pragma once

#include <libfork.hpp>

#include "bench/backend/elision.h"
#include "bench/harness.h"

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) : pool_(workers) { current = &pool_; }
  template <class F> void run(F f) { f(); }
  counters read_counters() const { return {}; }

  // Where the problems of libfork_problems.h run.
  static lf::lazy_pool& pool() { return *current; }

private:
  static inline lf::lazy_pool* current = nullptr;
  lf::lazy_pool pool_;
};

} // namespace bench
