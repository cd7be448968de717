// SPDX-License-Identifier: MIT
// The seam spelled with Nopal's own scope; with NOPAL_SERIAL defined it is the serial elision.
#pragma once

#include <nopal/fork.h>

#define BENCH_SCOPE(s) nopal::scope s
#define BENCH_FORK(s, result, fn, ...) s.fork(result, fn, __VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...) s.fork([=] { fn(__VA_ARGS__); })
#define BENCH_JOIN(s) s.join()
