// SPDX-License-Identifier: MIT
// The forks in C of fork_cost.cc, which has the same in C++.
#include <nopal/c/fibril.h>

long leaf(long number);

__attribute__((noinline)) long fork_once_in_c(void) {
  long x = 0;
  fibril_t frame;
  fibril_init(&frame);
  fibril_fork(&frame, &x, leaf, (1));
  fibril_join(&frame);
  return x;
}

__attribute__((noinline)) long fork_many_in_c(int count) {
  long x = 0;
  fibril_t frame;
  fibril_init(&frame);
  for (int i = 0; i < count; ++i)
    fibril_fork(&frame, &x, leaf, (1));
  fibril_join(&frame);
  return x;
}

long fib_in_c(int n) {
  if (n < 2)
    return n;
  long x;
  fibril_t frame;
  fibril_init(&frame);
  fibril_fork(&frame, &x, fib_in_c, (n - 1));
  const long y = fib_in_c(n - 2);
  fibril_join(&frame);
  return x + y;
}
