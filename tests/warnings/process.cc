// SPDX-License-Identifier: MIT
// Tasks on several processes.
#define NOPAL_PROCESS_ON_THREADS
#include "nopal/process.h"

namespace {

long fib(long n) {
  if (n < 2)
    return n;
  auto x = nopal::process::spawn(fib, n - 1);
  const long y = fib(n - 2);
  return nopal::process::join(x) + y;
}

} // namespace

bool process_is_right() {
  char* none[] = {nullptr};
  nopal::process::session all{0, none};
  return all.run(fib, 10L) == 55;
}
