// SPDX-License-Identifier: MIT
// Tasks in the serial elision whose every spawn stays a call.
//
// The empty asm at each join keeps GCC from making equal calls once, as in serial.h.
#pragma once

#include "bench/backend/serial_call.h"
#include "bench/backend/tasks_by_forks.h"

#include <cstddef>
#include <map>
#include <string>

#undef BENCH_JOIN_TASK
#define BENCH_JOIN_TASK(s, x)                                                                      \
  BENCH_JOIN(s);                                                                                   \
  asm volatile("")

namespace bench {

class task_runtime : public runtime {
public:
  task_runtime(unsigned workers, std::size_t, char**) : runtime(workers) {}
  bool speaks() const { return true; }
  template <class F> auto run(F f) { return f(); }
  std::map<std::string, double> metrics() const { return {}; }
};

} // namespace bench
