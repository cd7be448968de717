// SPDX-License-Identifier: MIT
// A unit of work: always the same instructions, none of which can overlap with the next.
#pragma once

#include <cstdint>

namespace bench {

struct spinning {
  static constexpr int steps = 64;

  // Executes `count` units and says so. A multiplication must wait for the one before it, so a unit
  // takes `steps` times the latency of a multiplication and an addition wherever it lies in memory.
  [[gnu::noinline]] static long units(long count) {
    std::uint64_t x = 1;
    for (long i = 0; i < count; ++i) {
      for (int k = 0; k < steps; ++k) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(x)); // the compiler may neither drop nor combine steps
      }
    }
    return count;
  }
};

} // namespace bench
