// SPDX-License-Identifier: MIT
// A backend that runs everything serially and counts the forks.
#pragma once

#include <cstdint>

namespace bench {

inline std::uint64_t forks_counted = 0;

} // namespace bench

#define BENCH_TASK static
#define BENCH_SCOPE(s)
#define BENCH_FORK(s, result, fn, ...)                                                             \
  do {                                                                                             \
    ++bench::forks_counted;                                                                        \
    (result) = fn(__VA_ARGS__);                                                                    \
  } while (0)
#define BENCH_FORK_VOID(s, fn, ...)                                                                \
  do {                                                                                             \
    ++bench::forks_counted;                                                                        \
    fn(__VA_ARGS__);                                                                               \
  } while (0)
#define BENCH_JOIN(s)
