// SPDX-License-Identifier: MIT
// What fast_path.cc calls in C.
#pragma once

#if defined(__cplusplus)
extern "C" {
#endif
// Each forks the children of fib(n).
long fib_by_fibril(long n);
long fib_by_scope(long n);
long fib_with_words(long n);
// Both fork in a loop, until done() says so or the strand is cancelled.
void fork_until_by_fibril(int (*done)(void));
void fork_until_by_scope(int (*done)(void));
#if defined(__cplusplus)
}
#endif
