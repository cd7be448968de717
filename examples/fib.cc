// SPDX-License-Identifier: MIT
// fib N: the N-th Fibonacci number, with a fork at every call. All else in it takes no time, so the
// program shows what a fork costs.
#include "shared/command_line.h"

#include <nopal/fork.h>

#include <cstdint>

namespace {

std::int64_t fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  std::int64_t x;
  s.fork(x, fib, n - 1);
  const std::int64_t y = fib(n - 2);
  s.join();
  return x + y;
}

} // namespace

int main(int argc, char** argv) {
  command_line line{"Computes the N-th Fibonacci number by forking at every call."};
  int n = 0;
  line.number("N", n, 0, 90, "a number from 0 to 90");
  return line.run(argc, argv, [&] {
    const auto result = static_cast<long long>(fib(n));
    std::printf("fib(%d) = %lld\n", n, result);
  });
}
