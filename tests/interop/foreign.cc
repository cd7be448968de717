// SPDX-License-Identifier: MIT
#include "tests/interop/foreign.h"

#include "nopal/affine.h"
#include "nopal/loop.h"
#include "nopal/runtime.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace nopal_interop {

namespace {

constexpr int kEnough = 20;
[[maybe_unused]] constexpr int kEnoughChecked = 100;
constexpr int kWorkers = 4;
constexpr int kAtOnce = 3;
#if defined(NOPAL_CHECKS)
constexpr int kPatience = 30000; // yields
#else
constexpr int kPatience = 300;
#endif

int level = 0;
std::atomic<int> calls{0};
std::atomic<int> elsewhere{0};
std::atomic<int> moved{0};

// Not pthread_self, whose result the compiler may keep across a fork.
[[gnu::noinline]] long thread_now() { return syscall(SYS_gettid); }

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

// Waits for a thief, but not for ever: all workers may be waiting here.
void be_stolen() {
  std::atomic<bool> stolen{false};
  nopal::scope s;
  s.fork([&stolen] {
    for (int i = 0; i < kPatience && !stolen.load(std::memory_order_acquire); ++i)
      std::this_thread::yield();
  });
  stolen.store(true, std::memory_order_release);
  s.join();
}

long stolen_work(int n) {
  const long entered = thread_now();
  be_stolen();
  const long result = fib(n);
  if (thread_now() != entered)
    elsewhere.fetch_add(1);
  return result;
}

} // namespace

long work(int n) {
  const long entered = thread_now();
  const long result = level == 2 ? nopal::affine([n] { return stolen_work(n); }) : stolen_work(n);
  calls.fetch_add(1);
  if (thread_now() != entered)
    moved.fetch_add(1);
  return result;
}

long expected(int n) { return n < 2 ? n : expected(n - 1) + expected(n - 2); }

void choose_level(int chosen) {
  nopal::configure({.num_workers = kWorkers});
  level = chosen;
}

bool enough() {
#if defined(NOPAL_CHECKS)
  // A child that looks at its callers as it leaves is nearly always the last to arrive.
  if (calls >= kEnoughChecked)
    return true;
#endif
  return elsewhere >= kEnough;
}
int callbacks_that_ended_elsewhere() { return elsewhere; }
int callbacks_that_moved() { return moved; }

int main_of(int count, char** arguments, const foreign_case* cases, int number_of_cases) {
  if (count == 1) {
    for (int i = 0; i < number_of_cases; ++i)
      std::puts(cases[i].name);
    return 0;
  }
  const foreign_case* chosen = nullptr;
  for (int i = 0; count == 3 && i < number_of_cases; ++i)
    if (std::strcmp(cases[i].name, arguments[1]) == 0)
      chosen = &cases[i];
  if (chosen == nullptr ||
      (std::strcmp(arguments[2], "2") != 0 && std::strcmp(arguments[2], "3") != 0)) {
    std::fprintf(stderr, "usage: %s CASE 2|3; without arguments it lists the cases\n",
                 arguments[0]);
    return 2;
  }
  choose_level(std::atoi(arguments[2]));
  std::atomic<bool> right{true};
  const auto run = [&] {
    if (!chosen->run())
      right = false;
  };
  while (right && !enough()) {
    nopal::scope s; // so that the library's frame is below a fork, on any worker
    if (chosen->alone)
      s.fork(run);
    else
      s.fork([&run] { nopal::for_index(0, kAtOnce, [&run](int) { run(); }, 1); });
    s.join();
  }
  std::printf("%d callbacks, %d ended elsewhere, %d moved%s\n", calls.load(), elsewhere.load(),
              moved.load(), right ? "" : ", and a result is wrong");
  return right && (level == 3 || moved == 0) ? 0 : 1;
}

} // namespace nopal_interop
