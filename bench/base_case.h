// SPDX-License-Identifier: MIT
// Marks a base case, which is the same machine code, equally aligned, whatever the runtime. Inlined
// into a task it would lie elsewhere in each program, and a loop's address can cost more time than
// a runtime does.
#pragma once

#define BENCH_BASE_CASE [[gnu::noinline, gnu::aligned(64)]]
