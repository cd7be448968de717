// SPDX-License-Identifier: MIT
// A program in C that finds Nopal installed; linked with libnopal_c.so, too.
#include <nopal/nopal.h>

#include <stdio.h>

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

int main(void) {
  struct fib_call call = {20, 0};
  if (fib(&call) != NOPAL_OK)
    return 1;
  printf("fib(%d) = %ld with %u workers\n", call.n, call.result, nopal_num_workers());
  return 0;
}
