// SPDX-License-Identifier: MIT
// Lace, by path: child stealing; a task is declared by a macro at file scope.
#pragma once

#include <lace.h>

#include "bench/backend/elision.h"
#include "bench/harness.h"

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;
  // Zero: the default size of the deques.
  explicit runtime(unsigned workers) { lace_start(workers, 0); }
  ~runtime() { lace_stop(); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  template <class F> void run(F f) { f(); }
  counters read_counters() const { return {}; }
};

} // namespace bench
