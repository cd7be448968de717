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
#include <ctime>
#include <thread>

namespace nopal_interop {

namespace {

constexpr int kEnough = 20;
[[maybe_unused]] constexpr int kEnoughChecked = 100;
constexpr int kWorkers = 4;
constexpr int kAtOnce = 3;
constexpr double kPatience = 1;    // seconds of a thread
constexpr double kToReturn = 1e-5; // the same

int level = 0;
std::atomic<int> calls{0};
std::atomic<int> elsewhere{0};
std::atomic<int> moved{0};
std::atomic<int> waiting{0}; // workers in be_stolen

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

// The processor time of this thread passes as fast on a loaded machine as on a quiet one.
double seconds_of_thread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Waits for a thief, unless all workers wait here: then none can come. The main path comes to the
// join when the child has all but ended, so that the main path is mostly the last and goes on.
void be_stolen() {
  std::atomic<bool> stolen{false};
  std::atomic<bool> ended{false};
  nopal::scope s;
  s.fork([&stolen, &ended] {
    waiting.fetch_add(1);
    const double end = seconds_of_thread() + kPatience;
    while (!stolen && waiting < kWorkers && seconds_of_thread() < end)
      std::this_thread::yield();
    waiting.fetch_sub(1);
    ended = true;
  });
  stolen = true;
  while (!ended)
    std::this_thread::yield();
  const double end = seconds_of_thread() + kToReturn;
  while (seconds_of_thread() < end)
    continue;
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
