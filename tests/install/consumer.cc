// SPDX-License-Identifier: MIT
// A user's program: computes a Fibonacci number with forks and prints it.
#include <cstdio>

#include <nopal/fork.h>
#include <nopal/runtime.h>

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  long y = fib(n - 2);
  s.join();
  return x + y;
}

} // namespace

int main() { std::printf("fib(20) = %ld with %u workers\n", fib(20), nopal::num_workers()); }
