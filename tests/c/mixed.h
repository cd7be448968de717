// SPDX-License-Identifier: MIT
// A program of which one file is C and one is C++.
#pragma once

#if defined(__cplusplus)
extern "C" {
#endif
// In C: each forks what the C++ file has.
int sum_in_c(int depth);
void fork_and_throw(int* finished);          // with FIBRIL_FRAME
void pass(void (*call)(void*), void* given); // calls it, between a fork and a join
// In C++.
int sum_in_cpp(int depth);
void throw_it(void);
void finish(int* finished);
#if defined(__cplusplus)
}
#endif
