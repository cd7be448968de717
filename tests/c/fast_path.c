// SPDX-License-Identifier: MIT
// Functions in C whose forks fast_path.cc counts, cancels and preempts.
#include <fibril.h>
#include <nopal/nopal.h>

#include "fast_path.h"

long fib_by_fibril(long n) {
  if (n < 2)
    return n;
  long x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &x, fib_by_fibril, (n - 1));
  const long y = fib_by_fibril(n - 2);
  fibril_join(&fr);
  return x + y;
}

long fib_by_scope(long n) {
  if (n < 2)
    return n;
  long x = 0;
  nopal_scope s;
  nopal_scope_begin(&s);
  nopal_fork(&s, &x, fib_by_scope, (n - 1));
  const long y = fib_by_scope(n - 2);
  nopal_join(&s);
  return x + y;
}

// Two of its arguments are on the stack.
static long with_words(long n, long a, long b, long c, long d, long e, long f, long g) {
  if (n < 2)
    return n;
  long x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, &x, with_words, (n - 1, b, c, d, e, f, g, a));
  const long y = with_words(n - 2, g, a, b, c, d, e, f);
  fibril_join(&fr);
  return x + y;
}
long fib_with_words(long n) { return with_words(n, 1, 2, 3, 4, 5, 6, 7); }

static int increment(int x) { return x + 1; }

void fork_until_by_fibril(int (*done)(void)) {
  while (!done()) {
    int x = 0;
    FIBRIL_FRAME(fr);
    fibril_fork(&fr, &x, increment, (x));
    fibril_join(&fr);
  }
}

void fork_until_by_scope(int (*done)(void)) {
  int result = 0;
  while (result == 0 && !done()) {
    int x = 0;
    nopal_scope s;
    nopal_scope_begin(&s);
    nopal_fork(&s, &x, increment, (x));
    result = nopal_join(&s);
  }
}
