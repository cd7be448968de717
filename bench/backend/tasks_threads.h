// SPDX-License-Identifier: MIT
// Tasks on the threads of one process: what several processes can reach at best.
#pragma once

#include "bench/backend/nopal.h"
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
