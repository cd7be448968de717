// SPDX-License-Identifier: MIT
// The serial elision of the Nopal program: the baseline of every ratio.
//
// GCC proves an elided recursion free of side effects, finds the same call in several of the
// levels it has inlined, and makes it once: fib(41) then takes 0.04 s or 0.002 s, for a program
// with exponentially fewer calls. An empty asm at each join makes every call happen. It adds no
// instruction and leaves inlining alone.
#pragma once

#define NOPAL_SERIAL
#include "bench/backend/nopal_forks.h"
#include "bench/harness.h"

#undef BENCH_JOIN
#define BENCH_JOIN(s)                                                                              \
  s.join();                                                                                        \
  asm volatile("")
#define BENCH_TASK static

namespace bench {

class runtime {
public:
  static constexpr bool parallel = false;
  explicit runtime(unsigned) {}
  template <class F> void run(F f) { f(); }
  counters read_counters() const { return {}; }
};

} // namespace bench
