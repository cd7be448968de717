// SPDX-License-Identifier: MIT
// A user's program in C: computes a Fibonacci number with forks and prints it.
#include <fibril.h>
#include <stdio.h>

fibril int fib(int n) {
  if (n < 2)
    return n;
  int x, y;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &x, fib, (n - 1));
  y = fib(n - 2);
  fibril_join(&fr);
  return x + y;
}

int main(void) {
  fibril_rt_init(2);
  printf("fib(20) = %d with %d workers\n", fib(20), fibril_rt_nprocs());
  fibril_rt_exit();
  return 0;
}
