// SPDX-License-Identifier: MIT
// A program of Fibril's.
#include <fibril.h>

fibril static int fib(int n) {
  if (n < 2)
    return n;
  fibril_t fr;
  fibril_init(&fr);
  int x;
  fibril_fork(&fr, &x, fib, (n - 1));
  int y = fib(n - 2);
  fibril_join(&fr);
  return x + y;
}

int main(void) { return fib(20) == 6765 ? 0 : 1; }
