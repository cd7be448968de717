// SPDX-License-Identifier: MIT
// Fibril, by path. Its fork is a nested function of GNU C; in C++ a lambda replaces it, with
// the runtime's own push, pop and resume.
#pragma once

extern "C" {
#include <fibril.h>
}

#undef fibril_fork_wrt
#undef fibril_fork_nrt
#define BENCH_FIBRIL_CHILD __attribute__((noinline, hot, optimize(3)))
#define fibril_fork_wrt(fp, rtp, fn, ag)                                                           \
  do {                                                                                             \
    auto bench_child = [](_fibril_defs ag fibril_t* f, __typeof__(rtp) p) BENCH_FIBRIL_CHILD {     \
      fibrili_push(f);                                                                             \
      *p = fn(_fibril_args ag);                                                                    \
      if (!fibrili_pop())                                                                          \
        fibrili_resume(f);                                                                         \
    };                                                                                             \
    fibrili_membar(bench_child(_fibril_expand ag fp, rtp));                                        \
  } while (0)
#define fibril_fork_nrt(fp, fn, ag)                                                                \
  do {                                                                                             \
    auto bench_child = [](_fibril_defs ag fibril_t* f) BENCH_FIBRIL_CHILD {                        \
      fibrili_push(f);                                                                             \
      fn(_fibril_args ag);                                                                         \
      if (!fibrili_pop())                                                                          \
        fibrili_resume(f);                                                                         \
    };                                                                                             \
    fibrili_membar(bench_child(_fibril_expand ag fp));                                             \
  } while (0)

#include "bench/backend/nowa.h"
