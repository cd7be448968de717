// SPDX-License-Identifier: MIT
// Forks of a C function's own frame by nopal.h: results, several children, cancellation, threads.
// nopal/c has more of how arguments and results travel.
#include <nopal/nopal.h>

#include "tests/c11/expect.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

static long fib(int n) {
  if (n < 2)
    return n;
  nopal_scope s;
  nopal_scope_begin(&s);
  long x = 0;
  nopal_fork(&s, &x, fib, (n - 1));
  const long y = fib(n - 2);
  EXPECT(nopal_join(&s) == NOPAL_OK);
  return x + y;
}

static double scaled(float factor, const double* values, int i) {
  return (double)factor * values[i];
}
static void store(int* to, int value) { *to = value; }
static void many_children(void) {
  double values[40];
  double results[40];
  int stored[40];
  nopal_scope s;
  nopal_scope_begin(&s);
  for (int round = 0; round < 3; ++round) { // a scope forks and joins again
    for (int i = 0; i < 40; ++i) {
      values[i] = i + round;
      nopal_fork(&s, results[i], scaled, (2.0F, values, i));
      nopal_fork(&s, store, (&stored[i], i * round));
    }
    EXPECT(nopal_join(&s) == NOPAL_OK);
    for (int i = 0; i < 40; ++i)
      EXPECT(results[i] == 2.0 * (i + round) && stored[i] == i * round);
  }
}

static int fib_in_a_region(void* context) {
  *(long*)context = fib(15);
  return 0;
}
static int stays(void* context, size_t i) {
  const pthread_t before = pthread_self();
  long result = 0;
  (void)context;
  (void)i;
  EXPECT(nopal_affine(fib_in_a_region, &result) == NOPAL_OK);
  EXPECT(pthread_equal(before, pthread_self()));
  EXPECT(result == 610);
  return 0;
}
static void regions(void) { EXPECT(nopal_for_index(0, 40, 1, stays, NULL) == NOPAL_OK); }

static void results(void) { EXPECT(fib(20) == 6765); }

static void until_cancelled(void) {
  while (!nopal_is_cancelled())
    sched_yield();
}
static void cancel(nopal_canceller* canceller) { nopal_cancel(canceller); }
static void never_called(void) { EXPECT(!"a child of a strand that is cancelled"); }
static int forks_until_cancelled(void* context) {
  nopal_scope s;
  nopal_scope_begin(&s);
  nopal_fork(&s, cancel, ((nopal_canceller*)context));
  nopal_fork(&s, until_cancelled, ());
  const int result = nopal_join(&s);
  EXPECT(result == NOPAL_CANCELLED);
  nopal_fork(&s, never_called, ());
  EXPECT(nopal_join(&s) == NOPAL_CANCELLED);
  return result;
}
static void cancellation(void) {
  nopal_canceller canceller;
  for (int round = 0; round < 20; ++round) {
    EXPECT(nopal_canceller_open(&canceller) == NOPAL_OK);
    EXPECT(nopal_call_cancelable(&canceller, -1, forks_until_cancelled, &canceller) ==
           NOPAL_CANCELLED);
    nopal_canceller_close(&canceller);
    EXPECT(fib(10) == 55);
  }
}

int main(int words, char** word) {
  const test_case cases[] = {
      {"results", results},
      {"many_children", many_children},
      {"regions", regions},
      {"cancellation", cancellation},
  };
  if (words == 2 && strcmp(word[1], "version") == 0)
    nopal_require_version(NOPAL_ABI_VERSION + 1); // which ends the program
  return run_cases(cases, (int)(sizeof cases / sizeof *cases), words, word);
}
