// SPDX-License-Identifier: MIT
// Matrix programs whose forking function alone is compiled for AVX-512, inside an ordinary program.
#include "matrix.h"

#include <cstdio>

namespace matrix {

namespace {

typedef double eight_doubles __attribute__((vector_size(64)));

// Sixteen vectors live across the forks: more than fit beside each other in anything narrower.
[[gnu::noinline, gnu::target("avx512f")]] double live_vectors(double seed) {
  eight_doubles v[16];
  for (int i = 0; i < 16; ++i)
    v[i] = eight_doubles{0, 1, 2, 3, 4, 5, 6, 7} + opaque(seed + i);
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  for (int i = 0; i < 16; ++i)
    v[i] = v[i] * 2.0;
  s.fork([] {
    scribble();
    fib(kBusy);
  });
  eight_doubles sum = {};
  for (int i = 0; i < 16; ++i)
    sum += v[i];
  s.join();
  double total = static_cast<double>(x);
  for (int i = 0; i < 8; ++i)
    total += sum[i];
  return total;
}

// All 32 registers hold something when the call of the fork is made.
[[gnu::noinline, gnu::target("avx512f")]] int mask_and_loop(const int* from, int* to, int count) {
  int larger = 0;
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  for (int i = 0; i < count; ++i)
    to[i] = from[i] > 100 ? from[i] * 3 : from[i];
  s.fork([&larger, from, count] {
    for (int i = 0; i < count; ++i)
      larger += from[i] > 100 ? 1 : 0;
  });
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum += to[i];
  s.join();
  return sum + larger + static_cast<int>(x);
}

bool has_avx512() {
  const bool has = __builtin_cpu_supports("avx512f") != 0;
  static const bool said = [has] {
    if (!has)
      std::fprintf(stderr, "\nskipped: this processor has no AVX-512\n");
    return true;
  }();
  return has && said;
}

void run_live_vectors(const char* name, int round) {
  if (!has_avx512())
    return;
  const double r = round;
  const double want = 2 * (8 * (16 * r + 120) + 16 * 28) + static_cast<double>(kBusyResult);
  expect(live_vectors(r) == want, name, "a zmm register has the wrong value");
}

void run_mask_and_loop(const char* name, int round) {
  if (!has_avx512())
    return;
  int from[200];
  int to[200];
  int want = static_cast<int>(kBusyResult);
  for (int i = 0; i < 200; ++i) {
    from[i] = i + round;
    want += from[i] > 100 ? 3 * from[i] + 1 : from[i];
  }
  expect(mask_and_loop(from, to, opaque(200)) == want, name, "a loop's result is wrong");
}

} // namespace

const program avx512_programs[] = {
    {"avx512_live", run_live_vectors},
    {"avx512_loop", run_mask_and_loop},
    {nullptr, nullptr},
};

} // namespace matrix
