// SPDX-License-Identifier: MIT
// A library that uses Nopal: LIBRARY_(name) makes the names of its functions. Two of them, with
// two versions of Nopal, are parts of one program.
#include <nopal/channel.h>
#include <nopal/fiber.h>
#include <nopal/fork.h>
#include <nopal/loop.h>
#include <nopal/runtime.h>
#include <nopal/submit.h>

#include <atomic>

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long a;
  s.fork(a, fib, n - 1);
  const long b = fib(n - 2);
  s.join();
  return a + b;
}

bool sums_in_loops() {
  std::atomic<long> sum{0};
  nopal::for_index(0, 1000, [&](int i) { sum += i; });
  return sum == 499'500;
}

bool sends_through_channels() {
  long sum = 0;
  nopal::run([&] {
    nopal::channel<int> numbers;
    nopal::spawn([&] {
      for (int i = 0; i < 50; ++i)
        numbers.send(i);
      numbers.close();
    });
    for (const int each : numbers)
      sum += each;
  });
  return sum == 1225;
}

bool catches_what_children_throw() {
  try {
    nopal::scope s;
    s.fork([] { throw 5; });
    fib(8);
    s.join();
  } catch (int thrown) {
    return thrown == 5;
  }
  return false;
}

} // namespace

#define SHOWN extern "C" __attribute__((visibility("default")))

// The same number from each library that works.
SHOWN long LIBRARY(works)(int n) {
  const bool right = sums_in_loops() && sends_through_channels() && catches_what_children_throw() &&
                     nopal::submit(fib, 10).get() == 55;
  return right ? fib(n) : -1;
}

// Strands of this library call a function of the other one, which forks.
SHOWN long LIBRARY(calls)(long (*other)(int), int n) {
  std::atomic<long> wrong{0};
  nopal::for_index(0, 8, [&](int) { wrong += other(n) != fib(n); }, 1);
  return wrong;
}
