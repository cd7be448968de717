// SPDX-License-Identifier: MIT
// Tasks of Itoyori, by its lower layer of forks and joins, on processes that an MPI's launcher
// begins; workers are processes.
//
// Its processes need the same addresses, so a process switches their randomisation off and begins
// anew.
#pragma once

#include "bench/harness.h"

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/personality.h>
#include <unistd.h>

#include <ityr/ityr.hpp>

#define BENCH_TASK static
#define BENCH_SCOPE(s)
#define BENCH_SPAWN(s, x, fn, ...)                                                                 \
  ityr::ito::thread<decltype(fn(__VA_ARGS__))> x##_task(                                           \
      [](auto... arguments) { return fn(arguments...); }, __VA_ARGS__)
#define BENCH_JOIN_TASK(s, x) const auto x = x##_task.join()

namespace bench {

class task_runtime {
public:
  static constexpr bool parallel = true;

  task_runtime(unsigned workers, std::size_t, char** argv) {
    const int now = personality(0xffffffff);
    if ((now & ADDR_NO_RANDOMIZE) == 0) {
      if (personality(static_cast<unsigned long>(now | ADDR_NO_RANDOMIZE)) != -1)
        execv("/proc/self/exe", argv);
      throw std::runtime_error("the program could not be begun anew with fixed addresses");
    }
    ityr::init();
    if (static_cast<unsigned>(ityr::n_ranks()) != workers)
      throw std::invalid_argument("--workers says " + std::to_string(workers) + ", but there are " +
                                  std::to_string(ityr::n_ranks()) + " processes");
  }
  ~task_runtime() { ityr::fini(); }
  task_runtime(const task_runtime&) = delete;
  task_runtime& operator=(const task_runtime&) = delete;

  // One of the processes prints.
  bool speaks() const { return ityr::is_master(); }
  template <class F> auto run(F f) { return ityr::root_exec(f); }
  counters read_counters() const { return {}; }
  std::map<std::string, double> metrics() const { return {}; }
};

} // namespace bench
