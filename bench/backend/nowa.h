// SPDX-License-Identifier: MIT
// Nowa, by path: its macros in C++, which g++ alone compiles rightly.
//
// A function that forks carries the attribute `fibril`; a forked function is named plainly.
#pragma once

#include <fibril.h>

#include <stdexcept>
#include <string>

#include "bench/harness.h"

#define BENCH_TASK fibril static
#define BENCH_SCOPE(s)                                                                             \
  fibril_t s;                                                                                      \
  fibril_init(&s)
#define BENCH_FORK(s, result, fn, ...) fibril_fork(&s, &(result), fn, (__VA_ARGS__))
#define BENCH_FORK_VOID(s, fn, ...) fibril_fork(&s, fn, (__VA_ARGS__))
#define BENCH_JOIN(s) fibril_join(&s)

namespace bench {

// Fibril starts no more workers than there are processors, and says nothing.
inline void start_fibril(unsigned workers) {
  fibril_rt_init(static_cast<int>(workers));
  const int started = fibril_rt_nprocs();
  if (started != static_cast<int>(workers)) {
    fibril_rt_exit();
    throw std::invalid_argument("--workers " + std::to_string(workers) +
                                " is out of range; accepted are 1 to " + std::to_string(started) +
                                " with this runtime on this machine");
  }
}

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) { start_fibril(workers); }
  ~runtime() { fibril_rt_exit(); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  template <class F> void run(F f) { f(); }
  counters read_counters() const { return {}; }
};

} // namespace bench
