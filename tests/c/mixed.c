// SPDX-License-Identifier: MIT
// The part in C of mixed.cc.
#include "tests/c/mixed.h"

#include <fibril.h>

// Another child's exception may stop it, so one passes it.
int sum_in_c(int depth) {
  if (depth == 0)
    return 1;
  int x;
  FIBRIL_FRAME(fr);
  fibril_fork(&fr, x, sum_in_cpp, (depth - 1));
  const int y = sum_in_cpp(depth - 1);
  fibril_join(&fr);
  return x + y;
}

void fork_and_throw(int* finished) {
  FIBRIL_FRAME(fr);
  fibril_fork(&fr, finish, (finished));
  fibril_fork(&fr, throw_it, ());
  fibril_fork(&fr, finish, (finished)); // not run: it comes after what has thrown
  fibril_join(&fr);
  *finished = -100; // not reached
}

void fork_many_and_throw(int* finished) {
  FIBRIL_FRAME(fr);
  long sum = 0;
  fibril_fork(&fr, &sum, add_or_throw, (1, 2, 3, 4, 5, 6, 7, 8));
  fibril_join(&fr);
  if (sum == 36)
    fibril_fork(&fr, finish, (finished));
  fibril_fork(&fr, &sum, add_or_throw, (1, 2, 3, 4, 5, 6, 7, -8));
  fibril_fork(&fr, &sum, add_or_throw, (0, 0, 0, 0, 0, 0, 0, 0)); // not run
  fibril_join(&fr);
  *finished = -100; // not reached
}

void pass(void (*call)(void*), void* given) {
  int count = 0;
  FIBRIL_FRAME(fr);
  fibril_fork(&fr, finish, (&count));
  call(given);
  fibril_join(&fr);
}

// For the compiler `same` may throw, but writes nothing. So the cleanup behind both it and the join
// may be given what was read before the join (nopal/join/scope_frame.h).
int throw_at_a_join(void) {
  int x = 1, sum = 0;
  for (;;) {
    FIBRIL_FRAME(fr);
    fibril_fork(&fr, &x, sum_in_cpp, (1));
    fibril_join(&fr);
    sum += same(&x);
    fibril_fork(&fr, throw_it, ());
    fibril_join(&fr);
    sum += same(&x);
  }
  return sum;
}
