// SPDX-License-Identifier: MIT
// What forks in C cost (c_forks_test.py): `c_forks SHAPE N` verifies itself and prints how often it
// has forked.
#include <fibril.h>
#include <nopal/nopal.h>
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

// Ten, all of which the base case reads; it saves no registers for the frame (arch/c.h).
static long ten(long n, long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  if (n < 2)
    return n + (a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i);
  long x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &x, ten, (n - 1, b, c, d, e, f, g, h, i, a));
  const long y = ten(n - 2, i, a, b, c, d, e, f, g, h);
  fibril_join(&fr);
  return x + y;
}

// By nopal_invoke, which returns on its thread.
struct call {
  long n, result;
};
static int invoke(void* context) {
  struct call* const own = context;
  own->result = own->n;
  if (own->n < 2)
    return 0;
  struct call left = {own->n - 1, 0}, right = {own->n - 2, 0};
  const int result = nopal_invoke(invoke, &left, invoke, &right);
  own->result = left.result + right.result;
  return result;
}

// A loop that forks children with so many arguments.
#define LOOP(number, parameters, arguments)                                                        \
  __attribute__((noinline)) static long leaf_##number parameters {                                 \
    __asm__ volatile("");                                                                          \
    return 1;                                                                                      \
  }                                                                                                \
  static long loop_##number(long n) {                                                              \
    long sum = 0;                                                                                  \
    fibril_t fr;                                                                                   \
    fibril_init(&fr);                                                                              \
    for (long i = 0; i < n; ++i) {                                                                 \
      long x;                                                                                      \
      fibril_fork(&fr, &x, leaf_##number, arguments);                                              \
      fibril_join(&fr);                                                                            \
      sum += x;                                                                                    \
    }                                                                                              \
    return sum;                                                                                    \
  }
// clang-format off
LOOP(0, (void), ())
LOOP(6, (long a, long b, long c, long d, long e, long f), (i, 2, 3, 4, 5, 6))
LOOP(7, (long a, long b, long c, long d, long e, long f, long g), (i, 2, 3, 4, 5, 6, 7))
LOOP(10, (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j),
     (i, 2, 3, 4, 5, 6, 7, 8, 9, 10))
LOOP(16, (long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
          long l, long m, long n, long o, long p),
     (i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
// clang-format on

static long fibonacci(long n) {
  long current = 0, next = 1;
  for (; n > 0; --n) {
    const long sum = current + next;
    current = next;
    next = sum;
  }
  return current;
}

static long run(const char* shape, long n) {
  if (strcmp(shape, "fib") == 0)
    return fib(n) == fibonacci(n) ? fibonacci(n + 1) - 1 : -1;
  if (strcmp(shape, "eight") == 0)
    return eight(n, 1, 2, 3, 4, 5, 6, 7) == fibonacci(n) ? fibonacci(n + 1) - 1 : -1;
  if (strcmp(shape, "ten") == 0)
    return ten(n, 1, 2, 3, 4, 5, 6, 7, 8, 8) == fibonacci(n) ? fibonacci(n + 1) - 1 : -1;
  if (strcmp(shape, "invoke") == 0) {
    struct call all = {n, 0};
    return invoke(&all) == 0 && all.result == fibonacci(n) ? fibonacci(n + 1) - 1 : -1;
  }
  static const struct {
    const char* name;
    long (*run)(long n);
  } loops[] = {{"0", loop_0}, {"6", loop_6}, {"7", loop_7}, {"10", loop_10}, {"16", loop_16}};
  for (size_t i = 0; i < sizeof loops / sizeof *loops; ++i)
    if (strcmp(shape, loops[i].name) == 0)
      return loops[i].run(n);
  return -1;
}

// The outermost fork starts the workers and begins a group. So the shape is run in a child.
int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  long forks;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &forks, run, (argv[1], atol(argv[2])));
  fibril_join(&fr);
  printf("%ld\n", forks);
  return forks < 0;
}
