// SPDX-License-Identifier: MIT
// The serial elision has the same source.
#define NOPAL_SERIAL
#include "nopal/affine.h"
#include "nopal/arena.h"
#include "nopal/blocking.h"
#include "nopal/cancel.h"
#include "nopal/either.h"
#include "nopal/find.h"
#include "nopal/floating_point.h"
#include "nopal/fork.h"
#include "nopal/invoke.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "nopal/preemption.h"
#include "nopal/runtime.h"

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

} // namespace

bool serial_is_right() {
  nopal::scope s;
  s.fork([](int, const double&) {}, 1, 2.0);
  s.join();
  nopal::cancel_scope all;
  all.fork([] {});
  all.join();
  nopal::for_index(0, 3, [](int) {});
  const auto [x, y] = nopal::invoke([] { return 1; }, [] { return 2; });
  return fib(10) == 55 && nopal::arena{2}.run([] { return 1; }) == 1 && x + y == 3 &&
         nopal::affine([] { return nopal::blocking([] { return 2; }); }) == 2;
}
