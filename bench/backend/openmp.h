// SPDX-License-Identifier: MIT
// OpenMP tasks, for GCC's libgomp and LLVM's libomp.
//
// Tied tasks: Nowa's Table III finds them faster than untied ones where a task is small. In a task
// the locals it names are firstprivate, so arguments are copied when the task is made.
#pragma once

#include <omp.h>

#include "bench/harness.h"

#define BENCH_TASK static
#define BENCH_SCOPE(s)
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    _Pragma("omp task firstprivate(bench_result)") { *bench_result = fn(__VA_ARGS__); }            \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...)                                                                \
  do {                                                                                             \
    _Pragma("omp task") { fn(__VA_ARGS__); }                                                       \
  } while (0)
#define BENCH_JOIN(s) _Pragma("omp taskwait")

namespace bench {

class runtime {
public:
  static constexpr bool parallel = true;
  explicit runtime(unsigned workers) : workers_(static_cast<int>(workers)) { omp_set_dynamic(0); }
  template <class F> void run(F f) {
#pragma omp parallel num_threads(workers_)
#pragma omp single
    f();
  }
  counters read_counters() const { return {}; }

private:
  int workers_;
};

} // namespace bench
