// SPDX-License-Identifier: MIT
// Matrix programs about the shape of the frame that forks: realigned for its locals, large, or of a
// size known only at run time.
#include "matrix.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace matrix {

namespace {

bool aligned_to(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(opaque(address)) % alignment == 0;
}

void fill(unsigned char* block, std::size_t size, unsigned seed) {
  for (std::size_t i = 0; i < size; ++i)
    block[i] = static_cast<unsigned char>(seed + i);
}

bool filled(const unsigned char* block, std::size_t size, unsigned seed) {
  for (std::size_t i = 0; i < size; ++i)
    if (block[i] != static_cast<unsigned char>(seed + i))
      return false;
  return true;
}

template <std::size_t Alignment> bool aligned_local(unsigned seed, int depth) {
  alignas(Alignment) unsigned char block[2 * Alignment];
  unsigned char ordinary[24];
  fill(block, sizeof block, seed);
  fill(ordinary, sizeof ordinary, seed + 1);
  bool below = true;
  bool beside = true;
  nopal::scope s;
  if (depth > 0)
    s.fork(below, aligned_local<Alignment>, seed + 7, depth - 1);
  else
    s.fork([] { fib(kBusy); });
  scribble();
  const bool before = filled(block, sizeof block, seed) && aligned_to(block, Alignment);
  fill(block, sizeof block, seed + 2);
  if (depth > 0)
    beside = aligned_local<Alignment>(seed + 11, depth - 2);
  const bool between = filled(block, sizeof block, seed + 2);
  s.join();
  return below && beside && before && between && filled(block, sizeof block, seed + 2) &&
         filled(ordinary, sizeof ordinary, seed + 1) && aligned_to(block, Alignment);
}

template <std::size_t Alignment> void run_aligned(const char* name, int round) {
  expect(aligned_local<Alignment>(opaque(static_cast<unsigned>(round)), 6), name,
         "an aligned local did not survive the steal");
}

// Two forks on different sides of an aligned local, and a third one after the join.
void run_aligned_twice(const char* name, int round) {
  alignas(64) double first[16];
  alignas(128) std::int32_t second[64];
  for (int i = 0; i < 16; ++i)
    first[i] = opaque(round + i);
  long x = 0;
  long y = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  for (int i = 0; i < 64; ++i)
    second[i] = opaque(i * round);
  s.fork(y, fib, kBusy);
  double sum = 0;
  for (int i = 0; i < 16; ++i)
    sum += first[i];
  s.join();
  s.fork([&first] {
    for (double& each : first)
      each += 1;
  });
  s.join();
  long total = 0;
  for (int i = 0; i < 64; ++i)
    total += second[i];
  for (int i = 0; i < 16; ++i)
    sum += first[i];
  expect(x == kBusyResult && y == kBusyResult, name, "a child's result is wrong");
  expect(total == 2016L * round && sum == 2.0 * (16 * round + 120) + 16, name,
         "a local has the wrong value");
}

long large_frame(long seed, int depth) {
  long block[4096];
  for (long i = 0; i < 4096; ++i)
    block[i] = seed + i;
  long below = 0;
  nopal::scope s;
  if (depth > 0)
    s.fork(below, large_frame, seed + 1, depth - 1);
  else
    s.fork(below, fib, kBusy);
  for (long i = 0; i < 4096; i += 64)
    block[i] += 1;
  scribble();
  s.join();
  long sum = below;
  for (const long each : block)
    sum += each;
  return sum;
}

void run_large(const char* name, int round) {
  const long got = large_frame(opaque(long{round}), 3);
  long want = kBusyResult;
  for (long level = 0; level < 4; ++level)
    want += 4096L * (round + level) + 4095L * 2048 + 64;
  expect(got == want, name, "a local of a large frame has the wrong value");
}

// The frame has many pages, of which only the first, the last and one in the middle are touched.
long sparse_frame(long seed) {
  long block[10240];
  block[0] = opaque(seed);
  block[10239] = opaque(seed + 1);
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  block[5000] = block[0] + block[10239];
  s.join();
  return opaque(block)[5000] + x;
}

void run_sparse(const char* name, int round) {
  expect(sparse_frame(round) == 2 * round + 1 + kBusyResult, name, "a local has the wrong value");
}

long dynamic_frame(std::size_t size, unsigned seed, int depth) {
  auto* block = static_cast<unsigned char*>(__builtin_alloca(opaque(size)));
  fill(block, size, seed);
  long below = 0;
  nopal::scope s;
  if (depth > 0)
    s.fork(below, dynamic_frame, size + 13, seed + 3, depth - 1);
  else
    s.fork(below, fib, kBusy);
  scribble();
  const bool between = filled(block, size, seed);
  s.join();
  return below + (between && filled(block, size, seed) ? 1 : 0);
}

void run_dynamic(const char* name, int round) {
  expect(dynamic_frame(100U + static_cast<unsigned>(round), 5, 6) == kBusyResult + 7, name,
         "memory of alloca did not survive the steal");
}

// A frame that is realigned and of unknown size: neither rsp nor rbp alone finds its locals.
long dynamic_aligned_frame(std::size_t size, unsigned seed, int depth) {
  alignas(64) unsigned char fixed[192];
  fill(fixed, sizeof fixed, seed);
  auto* block = static_cast<unsigned char*>(__builtin_alloca(opaque(size)));
  fill(block, size, seed + 1);
  long below = 0;
  nopal::scope s;
  if (depth > 0)
    s.fork(below, dynamic_aligned_frame, size + 13, seed + 3, depth - 1);
  else
    s.fork(below, fib, kBusy);
  scribble();
  const bool between = filled(block, size, seed + 1) && filled(fixed, sizeof fixed, seed);
  fill(fixed, sizeof fixed, seed + 2);
  s.join();
  const bool after = filled(block, size, seed + 1) && filled(fixed, sizeof fixed, seed + 2) &&
                     aligned_to(fixed, 64);
  return below + (between && after ? 1 : 0);
}

void run_dynamic_aligned(const char* name, int round) {
  expect(dynamic_aligned_frame(100U + static_cast<unsigned>(round), 5, 6) == kBusyResult + 7, name,
         "a local of a realigned frame with alloca did not survive the steal");
}

// The frame grows and shrinks between the scopes of a loop, never while one is open.
void run_array_per_round(const char* name, int round) {
  long sum = 0;
  for (std::size_t size = 1; size < 400; size += 57) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvla"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wvla-extension"
#endif
    unsigned char block[opaque(size)];
#pragma GCC diagnostic pop
    fill(block, size, static_cast<unsigned>(round));
    nopal::scope s;
    long x = 0;
    s.fork(x, fib, kBusy);
    scribble();
    const bool between = filled(block, size, static_cast<unsigned>(round));
    s.join();
    sum += x + (between && filled(block, size, static_cast<unsigned>(round)) ? 1 : 0);
  }
  expect(sum == 7 * (kBusyResult + 1), name, "an array of a loop's round has the wrong value");
}

// A forking frame below one that is aligned differently, on a stolen continuation's fresh stack.
[[gnu::noinline]] long below_the_steal(long seed) {
  alignas(128) long block[16];
  for (int i = 0; i < 16; ++i)
    block[i] = opaque(seed + i);
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  alignas(32) long other[4] = {opaque(seed), 1, 2, 3};
  s.join();
  expect(aligned_to(other, 32) && aligned_to(block, 128), "below", "a local is not aligned");
  return x + block[15] + other[0];
}

void run_below(const char* name, int round) {
  long x = 0;
  nopal::scope s;
  s.fork(x, fib, kBusy);
  const long y = below_the_steal(round);
  s.fork([&y] { expect(y > 0, "below", "a captured local has the wrong value"); });
  const long z = below_the_steal(round + 1);
  s.join();
  expect(x == kBusyResult && y == kBusyResult + 2 * round + 15 && z == y + 2, name,
         "a result is wrong");
}

} // namespace

const program frame_programs[] = {
    {"aligned_16", run_aligned<16>},
    {"aligned_32", run_aligned<32>},
    {"aligned_64", run_aligned<64>},
    {"aligned_128", run_aligned<128>},
    {"aligned_256", run_aligned<256>},
    {"aligned_1024", run_aligned<1024>},
    {"aligned_twice", run_aligned_twice},
    {"large", run_large},
    {"sparse", run_sparse},
    {"dynamic", run_dynamic},
    {"dynamic_aligned", run_dynamic_aligned},
    {"array_per_round", run_array_per_round},
    {"below", run_below},
    {nullptr, nullptr},
};

} // namespace matrix
