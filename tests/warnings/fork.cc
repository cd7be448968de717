// SPDX-License-Identifier: MIT
// Forks of every kind: the child's data travel in registers, as words, by address or in parts.
#include "nopal/fork.h"

#include <array>
#include <memory>
#include <string>

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

struct alignas(64) wide {
  std::array<double, 16> values{};
};

double add(double a, float b, long c, int d, char e, short f, unsigned g) {
  return a + static_cast<double>(b) + static_cast<double>(c + d + e + f) + g;
}

// Over-aligned locals, whose frame is realigned.
double wide_frame(wide& out) {
  wide first;
  first.values[3] = 1;
  nopal::scope s;
  s.fork([&first, &out] { out.values[1] = first.values[3]; });
  wide other;
  other.values[2] = 2;
  s.join();
  return other.values[2] + out.values[1];
}

} // namespace

bool fork_is_right() {
  int calls = 0;
  double sum = 0;
  std::string text;
  {
    nopal::scope s;
    s.fork(sum, add, 1.0, 2.0F, 3L, 4, char{5}, short{6}, 7U);
    s.fork([&calls, owned = std::make_unique<int>(1)] { calls += *owned; });
    s.fork([words = std::array<long, 4>{1, 2, 3, 4}, &text] { text = std::to_string(words[3]); });
    s.fork([](std::string&& given, const wide&) { given.clear(); }, std::string{"a"}, wide{});
    s.fork(text, [&calls](std::string given) { return given + std::to_string(calls); }, "b");
  }
  wide out;
  return fib(10) == 55 && sum == 28.0 && wide_frame(out) == 3.0 && calls == 1;
}
