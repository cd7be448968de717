// SPDX-License-Identifier: MIT
// OpenMP tasks, for GCC's libgomp and LLVM's libomp.
//
// Tied tasks, unless BENCH_OPENMP_UNTIED is defined; Nowa's Table III compares the two. In a task
// the locals it names are firstprivate, so arguments are copied when the task is made.
#pragma once

#include <omp.h>

#include "bench/harness.h"

// The clauses that the directive of every task adds.
#if defined(BENCH_OPENMP_UNTIED)
#define BENCH_OPENMP_CLAUSE untied
#else
#define BENCH_OPENMP_CLAUSE
#endif
// In two steps, so that macros in the text are replaced before it becomes a string.
#define BENCH_OPENMP_TEXT(...) _Pragma(#__VA_ARGS__)
#define BENCH_OPENMP(...) BENCH_OPENMP_TEXT(__VA_ARGS__)

#define BENCH_TASK static
#define BENCH_SCOPE(s)
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    BENCH_OPENMP(omp task BENCH_OPENMP_CLAUSE firstprivate(bench_result)) {                        \
      *bench_result = fn(__VA_ARGS__);                                                             \
    }                                                                                              \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...)                                                                \
  do {                                                                                             \
    BENCH_OPENMP(omp task BENCH_OPENMP_CLAUSE) { fn(__VA_ARGS__); }                                \
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
