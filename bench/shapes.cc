// SPDX-License-Identifier: MIT
// Programs that do little but fork, in four shapes, whose instructions the study `forks` and
// tests/cost count: `shapes SHAPE N` computes, verifies itself, and prints how often it has forked.
#include <nopal/fork.h>
#include <nopal/invoke.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long forks = 0; // set by compute

long fibonacci(long n) {
  long current = 0;
  for (long next = 1; n > 0; --n) {
    const long sum = current + next;
    current = next;
    next = sum;
  }
  return current;
}

// A function whose result the fork stores.
long fib(long n) {
  if (n < 2)
    return n;
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

// A lambda with five captured words.
long lambda(long n, long a, long b, long c) {
  if (n < 2)
    return n;
  long x = 0;
  nopal::scope s;
  s.fork([n, a, b, c, &x] { x = lambda(n - 1, b, c, a) + (a ^ b ^ c) - (c ^ b ^ a); });
  const long y = lambda(n - 2, c, a, b);
  s.join();
  return x + y;
}

// A loop that forks a hundred children.
long hundred(long times) {
  constexpr long kChildren = 100;
  long total = 0;
  for (long i = 0; i < times; ++i) {
    long results[kChildren] = {};
    nopal::scope s;
    for (long child = 0; child < kChildren; ++child)
      s.fork([&results, child, i] { results[child] = child ^ i; });
    s.join();
    for (long child = 0; child < kChildren; ++child)
      total += results[child] == (child ^ i);
  }
  return total;
}

long by_invoke(long n) {
  if (n < 2)
    return n;
  const auto [x, y] =
      nopal::invoke([n] { return by_invoke(n - 1); }, [n] { return by_invoke(n - 2); });
  return x + y;
}

bool compute(const char* shape, long n) {
  if (std::strcmp(shape, "hundred") == 0) {
    forks = 100 * n;
    return hundred(n) == forks;
  }
  forks = fibonacci(n + 1) - 1; // the call tree is binary, and each inner node forks once
  if (std::strcmp(shape, "fib") == 0)
    return fib(n) == fibonacci(n);
  if (std::strcmp(shape, "lambda") == 0)
    return lambda(n, 1, 2, 3) == fibonacci(n);
  if (std::strcmp(shape, "invoke") == 0)
    return by_invoke(n) == fibonacci(n);
  std::fprintf(stderr, "shapes: '%s' is no shape; accepted are fib, lambda, hundred and invoke\n",
               shape);
  std::exit(2);
}

} // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: shapes SHAPE N\n");
    return 2;
  }
  // The outermost fork starts the workers and begins a group. So the shape is computed in a child.
  bool right = false;
  nopal::scope s;
  s.fork(right, compute, arguments[1], std::atol(arguments[2]));
  s.join();
  std::printf("%ld\n", forks);
  return right ? 0 : 1;
}
