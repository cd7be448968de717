// SPDX-License-Identifier: MIT
// Functions in C that the tests of the bindings call.
#include <sched.h>
#include <stddef.h>

static int arrived;

// Returns when two pieces of a loop are here at the same time.
int native_meet(void* context, size_t begin, size_t end) {
  (void)context;
  (void)begin;
  (void)end;
  __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < 2)
    sched_yield();
  return 0;
}

int native_square(void* context, size_t begin, size_t end) {
  long* const squares = context;
  for (size_t i = begin; i < end; ++i)
    squares[i] = (long)(i * i);
  return 0;
}

int native_fails(void* context, size_t begin, size_t end) {
  (void)context;
  return begin <= 500 && 500 < end ? 42 : 0;
}

void native_double(const double* in, double* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = 2 * in[i];
}
