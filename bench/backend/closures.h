// SPDX-License-Identifier: MIT
// Forks of closures, for runtimes whose scope has `fork` and `join`. The file that includes this
// defines BENCH_SCOPE.
#pragma once

#define BENCH_TASK static
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    auto* const bench_result = &(result);                                                          \
    s.fork([=] { *bench_result = fn(__VA_ARGS__); });                                              \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...) s.fork([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.join()
