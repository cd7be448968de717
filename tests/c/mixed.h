// SPDX-License-Identifier: MIT
// A program of which one file is C and one is C++.
#pragma once

#if defined(__cplusplus)
extern "C" {
#endif
// In C: each forks what the C++ file has.
int sum_in_c(int depth);
void fork_and_throw(int* finished);          // with FIBRIL_FRAME
void fork_many_and_throw(int* finished);     // the same, with arguments on the stack
void pass(void (*call)(void*), void* given); // calls it, between a fork and a join
int throw_at_a_join(void);                   // behind a pure function
// In C++.
int sum_in_cpp(int depth);
void throw_it(void);
__attribute__((pure)) int same(const int* number);
long add_or_throw(int a, int b, int c, int d, int e, int f, int g, int h); // if h is below 0
void finish(int* finished);
#if defined(__cplusplus)
}
#endif
