// SPDX-License-Identifier: MIT
// What compiles as C and as C++, with the library and without (FIBRIL_SERIAL).
#include <fibril.h>
#include <stdio.h>

#if defined(FIBRIL_SERIAL)
static void force_steals_if(int count, char** words) { (void)count, (void)words; }
#define CHECK(holds) ((holds) ? (void)0 : (void)(puts(#holds), failed = 1))
static int failed = 0;
#else
#include "tests/c/check.h"
static const int failed = 0;
#endif

fibril int fib(int n) {
  if (n < 2)
    return n;
  int x, y;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork(&fr, x, fib, (n - 1));
  fibril_fork(&fr, &y, fib, (n - 2));
  fibril_join(&fr);
  return x + y;
}

static void add(const char* text, long* to, double by) { *to += text != 0 ? text[0] : (long)by; }

int main(int argc, char** argv) {
  force_steals_if(argc, argv);
  if (fibril_rt_init(FIBRIL_NPROCS) != FIBRIL_SUCCESS)
    return 1;
  CHECK(fibril_rt_nprocs() >= 1);
  CHECK(fib(15) == 610);
  long to = 0;
  {
    FIBRIL_FRAME(fr);
    fibril_fork(&fr, add, (0, &to, 3)); // 0 is a null pointer, 3 a double
    fibril_join(&fr);
    fibril_fork_nrt(&fr, add, ("a", &to, 0));
  }
  CHECK(to == 3 + 'a');
  int x;
  fibril_t fr;
  fibril_init(&fr);
  fibril_fork_wrt(&fr, &x, fib, (10));
  fibril_join(&fr);
  CHECK(x == 55);
  fibril_rt_exit();
  return failed;
}
