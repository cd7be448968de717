// SPDX-License-Identifier: MIT
// The seam spelled with Nopal's own scope; with NOPAL_SERIAL defined it is the serial elision.
#pragma once

#include <nopal/fork.h>

#define BENCH_SCOPE(s) nopal::scope s
// The function is named by a type, so that the child calls it directly, as the macros of the other
// systems do.
#define BENCH_FORK(s, result, fn, ...)                                                             \
  s.fork(result, [](auto... arguments) { return fn(arguments...); }, __VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...) s.fork([](auto... arguments) { fn(arguments...); }, __VA_ARGS__)
#define BENCH_JOIN(s) s.join()
