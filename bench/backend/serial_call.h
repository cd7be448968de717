// SPDX-License-Identifier: MIT
// The serial elision whose every fork stays a call: what a fork's cost is measured against.
//
// A compiler inlines several levels of an elided recursion into one another, which no forking
// program allows; the difference would be charged to the fork. It may still make a loop of the call
// that follows the forks.
#pragma once

#include "bench/backend/serial.h"

#undef BENCH_JOIN
#define BENCH_JOIN(s) s.join()
#undef BENCH_TASK
#if defined(__clang__)
#define BENCH_TASK [[gnu::noinline]] static
#else
#define BENCH_TASK [[gnu::noinline, gnu::noclone]] static
#endif
