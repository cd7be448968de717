// SPDX-License-Identifier: MIT
// A file that uses one function of the library alone, compiled for other parts than the rest.
#include "outcome.h"

#include <nopal/affine.h>
#include <nopal/blocking.h>
#include <nopal/loop.h>
#include <nopal/mutex.h>
#include <nopal/runtime.h>

#include <functional>

#if defined(CALLS_forks)
static void call() {
  nopal::scope s;
  s.fork([] {});
  s.join();
}
#elif defined(CALLS_invokes)
static void call() {
  nopal::invoke([] {}, [] {});
}
#elif defined(CALLS_reduces)
static void call() {
  static_cast<void>(nopal::reduce(0, 9, 0, std::plus<>{}, [](int i) { return i; }));
}
#elif defined(CALLS_locks)
static void call() {
  nopal::mutex m;
  m.lock();
  m.unlock();
}
#elif defined(CALLS_blocks)
static void call() {
  nopal::blocking([] {});
}
#elif defined(CALLS_asks)
static void call() { static_cast<void>(nopal::stats()); }
#elif defined(CALLS_affine)
static void call() {
  nopal::affine([] {});
}
#endif

int main() {
  call();
  return parallel_part().sum != 0;
}
