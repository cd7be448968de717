// SPDX-License-Identifier: MIT
#include "tests/c11/library.h"

#include <nopal/nopal.h>

struct fib_call {
  int n;
  long result;
};

static int fib(void* context) {
  struct fib_call* own = context;
  if (own->n < 2) {
    own->result = own->n;
    return 0;
  }
  struct fib_call left = {own->n - 1, 0};
  struct fib_call right = {own->n - 2, 0};
  int result = nopal_invoke_migrating(fib, &left, fib, &right);
  own->result = left.result + right.result;
  return result;
}

long library_fib(int n) {
  struct fib_call call = {n, 0};
  return nopal_affine(fib, &call) == NOPAL_OK ? call.result : -1;
}

struct each_call {
  library_function f;
  void* context;
};

static int call_each(void* context, size_t i) {
  const struct each_call* own = context;
  return own->f(own->context, (int)i);
}

int library_for_each(int n, library_function f, void* context) {
  struct each_call call = {f, context};
  return nopal_for_index(0, (size_t)n, 1, call_each, &call);
}
