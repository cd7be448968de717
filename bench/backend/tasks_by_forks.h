// SPDX-License-Identifier: MIT
// Tasks spelled with the forks of a backend, for problems that run on processes too.
//
//     BENCH_SCOPE(s);
//     BENCH_SPAWN(s, x, fn, args...);   // x is to be fn(args...)
//     BENCH_JOIN_TASK(s, x);            // now it is; tasks are joined in the reverse order
#pragma once

#define BENCH_SPAWN(s, x, fn, ...)                                                                 \
  decltype(fn(__VA_ARGS__)) x{};                                                                   \
  BENCH_FORK(s, x, fn, __VA_ARGS__)
#define BENCH_JOIN_TASK(s, x) BENCH_JOIN(s)
