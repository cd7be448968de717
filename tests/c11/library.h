// SPDX-License-Identifier: MIT
// A library in C that forks with nopal.h. A C++ program calls it.
#pragma once

#if defined(__cplusplus)
extern "C" {
#endif

typedef int (*library_function)(void* context, int i);

long library_fib(int n);
// Calls f(context, i) for all i below n, possibly at the same time; returns what nopal.h does.
int library_for_each(int n, library_function f, void* context);

#if defined(__cplusplus)
} // extern "C"
#endif
