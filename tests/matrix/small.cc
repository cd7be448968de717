// SPDX-License-Identifier: MIT
// The small program of the compiler matrix. It is for flags that are refused, and for flags whose
// effect one fork, one steal and one exception show: a child that travels in registers, one in
// words, and one that is moved.
#include <nopal/fork.h>

#include "nopal/runtime.h"
#include "nopal/vproc/settings.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

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

long words_and_moved(long a, long b, long c) {
  long words = 0;
  std::size_t moved = 0;
  nopal::scope s;
  s.fork([&words, a, b, c] { words = fib(4) + a + b + c; });
  s.fork([&moved, many = std::vector<std::string>(5, "a child's own")] { moved = many.size(); });
  const long own = fib(5);
  s.join();
  return words + static_cast<long>(moved) + own;
}

bool throws_across() {
  try {
    nopal::scope s;
    s.fork([] { throw std::runtime_error{"of the child"}; });
    fib(3);
    s.join();
  } catch (const std::runtime_error& error) {
    return error.what() == std::string{"of the child"};
  }
  return false;
}

} // namespace

int main() {
  nopal::options options;
  options.num_workers = 2;
  nopal::configure(options);
  nopal::vproc::force_steals(1);
  if (fib(8) != 21 || words_and_moved(10, 20, 30) != 3 + 60 + 5 + 5 || !throws_across()) {
    std::fprintf(stderr, "small: a result is wrong\n");
    return EXIT_FAILURE;
  }
  const unsigned long long steals = nopal::stats().steals;
  std::printf("small: %llu steals\n", steals);
  return steals > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
