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

#if defined(CALLS_AT_EACH_BLOCK) // what -fsanitize-coverage=trace-pc calls; it keeps no argument
asm(".globl __sanitizer_cov_trace_pc\n__sanitizer_cov_trace_pc:\n"
    ".irp r, eax, ecx, edx, esi, edi, r8d, r9d, r10d, r11d\n\txorl %\\r, %\\r\n\t.endr\n\tret");
#endif

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

[[gnu::noinline]] long unless_fifth(long x) {
  if (x % 5 == 0)
    throw std::runtime_error{"of the fifth"};
  return x;
}

// Where the compiler takes what stands between the calls for something that may throw, the cleanup
// behind both calls and these may be given what was read before a call (join/scope_frame.h).
[[gnu::noinline]] long ends_early(long seed) {
  long sum = 0;
  try {
    for (long i = 0; i < 4; ++i) {
      long x = 0;
      nopal::scope s;
      s.fork([&x, seed, i, text = std::string("a child's own")] {
        x = unless_fifth(seed + i) + static_cast<long>(text.size());
      });
      if (seed % 13 == i)
        continue;
      sum += unless_fifth(seed + i + 2);
      s.join();
      sum += x;
    }
  } catch (const std::runtime_error&) {
    return -1;
  }
  return sum;
}
bool ends_early_as_often_as_children_throw() {
  long early = 0;
  for (long seed = 0; seed < 130; ++seed)
    early += ends_early(seed) == -1;
  return early == 128;
}

} // namespace

int main() {
#if defined(CALLS_AT_EACH_BLOCK) && !__has_attribute(no_sanitize_coverage)
  return 77; // docs/limits.md
#endif
  nopal::options options;
  options.num_workers = 2;
  nopal::configure(options);
  nopal::vproc::force_steals(1);
  if (fib(8) != 21 || words_and_moved(10, 20, 30) != 3 + 60 + 5 + 5 || !throws_across() ||
      !ends_early_as_often_as_children_throw()) {
    std::fprintf(stderr, "small: a result is wrong\n");
    return EXIT_FAILURE;
  }
  const unsigned long long steals = nopal::stats().steals;
  std::printf("small: %llu steals\n", steals);
  return steals > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
