// SPDX-License-Identifier: MIT
// What forks in C cost (c_forks_test.py): `c_forks SHAPE N` verifies itself and prints how often it
// has forked.
#include <fibril.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As in bench/shapes.cc.
static long fib(long n) {
  if (n < 2)
    return n;
  long x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &x, fib, (n - 1));
  const long y = fib(n - 2);
  fibril_join(&fr);
  return x + y;
}

// Eight arguments, two of them on the stack.
static long eight(long n, long a, long b, long c, long d, long e, long f, long g) {
  if (n < 2)
    return n;
  long x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &x, eight, (n - 1, b, c, d, e, f, g, a));
  const long y = eight(n - 2, g, a, b, c, d, e, f);
  fibril_join(&fr);
  return x + y;
}

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  const long n = atol(argv[2]);
  long current = 0, next = 1; // Fibonacci's numbers
  for (long i = 0; i < n; ++i) {
    const long sum = current + next;
    current = next;
    next = sum;
  }
  printf("%ld\n", next - 1);
  return (strcmp(argv[1], "fib") == 0 ? fib(n) : eight(n, 1, 2, 3, 4, 5, 6, 7)) != current;
}
