// SPDX-License-Identifier: MIT
// The seam for a runtime whose idiom no macro can spell: the shared sources run serially, and the
// runtime's own recursions are in <runtime>_problems.h.
#pragma once

#define BENCH_TASK [[maybe_unused]] static
#define BENCH_SCOPE(s)
#define BENCH_FORK(s, result, fn, ...) (result) = fn(__VA_ARGS__)
#define BENCH_FORK_VOID(s, fn, ...) fn(__VA_ARGS__)
#define BENCH_JOIN(s)
