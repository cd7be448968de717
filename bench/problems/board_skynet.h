// SPDX-License-Identifier: MIT
// board_skynet: numbers 10^8 leaves of a tree of ten children a node, and adds them up, as the
// public board of runtimes does (tzcnt/runtime-benchmarks). A node forks nine children and calls
// the tenth; a leaf is a child.
#pragma once

#include <cstdint>

#include "bench/harness.h"

namespace bench {

BENCH_TASK std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1)
    return first;
  const std::uint64_t part = leaves / 10;
  std::uint64_t sums[10];
  BENCH_SCOPE(s);
  for (std::uint64_t child = 0; child < 9; ++child) {
    BENCH_FORK(s, sums[child], skynet, first + child * part, part);
  }
  sums[9] = skynet(first + 9 * part, part);
  BENCH_JOIN(s);
  std::uint64_t sum = 0;
  for (const std::uint64_t each : sums)
    sum += each;
  return sum;
}

class board_skynet_problem {
public:
  static constexpr const char* name = "board_skynet";

  explicit board_skynet_problem(size chosen)
      : leaves_(chosen == size::test ? 10'000 : 100'000'000) {}

  long n() const { return static_cast<long>(leaves_); }
  // Each node forks nine times, and there is a ninth of a node for each leaf but one.
  std::uint64_t forks() const { return leaves_ - 1; }

  void prepare() {}
  void compute() { sum_ = skynet(0, leaves_); }
  bool verify() const { return sum_ == leaves_ * (leaves_ - 1) / 2; }

private:
  std::uint64_t leaves_;
  std::uint64_t sum_ = 0;
};

} // namespace bench
