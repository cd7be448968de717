// SPDX-License-Identifier: MIT
// btc1, btc2: binary task creation of uni-address-hpdc15, section 6.1; --n is the depth.
//
// Each task spawns two children and waits for both, once (btc1) or twice (btc2): then parallelism
// grows and shrinks all the time. The paper's depths, 38 and 19, take hours on one core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench/harness.h"

namespace bench {

// The tasks below this one, itself included.
template <int Iterations> BENCH_TASK std::uint64_t btc(int depth) {
  std::uint64_t tasks = 1;
  if (depth == 0)
    return tasks;
  for (int i = 0; i < Iterations; ++i) {
    BENCH_SCOPE(s);
    BENCH_SPAWN(s, left, btc<Iterations>, depth - 1);
    BENCH_SPAWN(s, right, btc<Iterations>, depth - 1);
    BENCH_JOIN_TASK(s, right);
    BENCH_JOIN_TASK(s, left);
    tasks += left + right;
  }
  return tasks;
}

template <int Iterations> class btc_problem {
public:
  static constexpr const char* name = Iterations == 1 ? "btc1" : "btc2";

  explicit btc_problem(size chosen)
      : depth_{(chosen == size::test    ? 12
                : chosen == size::quick ? 24
                                        : 28) /
               Iterations} {}
  btc_problem(size, long n) : depth_{static_cast<int>(n)} {
    if (n > 60 / Iterations)
      throw std::invalid_argument("btc has no count for depth " + std::to_string(n) +
                                  "; accepted are --n 1 to " + std::to_string(60 / Iterations));
  }

  long n() const { return depth_; }
  std::uint64_t forks() const { return tasks() - 1; }
  std::size_t region_size() const { return std::size_t{256} << 10; }

  auto root() const {
    return [depth = depth_] { return btc<Iterations>(depth); };
  }
  bool verify(std::uint64_t got) const { return got == tasks(); }

private:
  std::uint64_t tasks() const {
    std::uint64_t sum = 1;
    for (int level = 0; level < depth_; ++level)
      sum = sum * 2 * Iterations + 1;
    return sum;
  }

  int depth_;
};

using btc1_problem = btc_problem<1>;
using btc2_problem = btc_problem<2>;

} // namespace bench
