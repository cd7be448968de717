// SPDX-License-Identifier: MIT
// Tasks in the serial elision whose every spawn stays a call.
#pragma once

#include "bench/backend/serial_call.h"
#include "bench/backend/tasks_by_forks.h"

#include <cstddef>
#include <map>
#include <string>

namespace bench {

class task_runtime : public runtime {
public:
  task_runtime(unsigned workers, std::size_t, char**) : runtime(workers) {}
  bool speaks() const { return true; }
  template <class F> auto run(F f) { return f(); }
  std::map<std::string, double> told() const { return {}; }
};

} // namespace bench
