// SPDX-License-Identifier: MIT
// captives: ample parallelism, on which a thief that may not go on to any other work must wait, and
// one that goes on below what waits on its only stack buries it. Made for the study `strategies`;
// not one of the papers' problems.
//
// A spine forks chains. A chain goes `deep` pages down in serial calls, then descends some levels,
// each of which forks a short child: who runs that child is left with an open frame, deep on its
// stack, until the chain ends. Then the chain is serial for long. What else is ready, the rest of
// the spine, lies shallower than all such frames. Between two chains the spine is serial for a
// while, so that idle workers turn to the chain.
//
// With two workers nobody waits: all that is ready descends from the frame that was stolen last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/harness.h"
#include "bench/problems/descent.h"

namespace bench {

// A chain that begins that many pages below.
BENCH_TASK long descend_below(long pages, int levels, long end_us) {
  if (pages == 0)
    return descend(levels, end_us);
  const page_of_frame own;
  const long below = descend_below(pages - 1, levels, end_us);
  return below + own.bytes[0];
}

BENCH_TASK void chain_of(long* paused_us, long pages, int levels, long end_us) {
  *paused_us = descend_below(pages, levels, end_us);
}

class captives_problem {
public:
  static constexpr const char* name = "captives";

  explicit captives_problem(size chosen)
      : captives_problem(chosen, chosen == size::test ? 3 : 24) {}
  captives_problem(size, long chains) : chains_(chains) {}

  long n() const { return chains_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(chains_ * (1 + levels)); }

  void prepare() {
    make_pauses_exact();
    paused_us_.assign(static_cast<std::size_t>(chains_), 0);
  }
  void compute() { result_us_ = spine(paused_us_.data(), chains_); }
  bool verify() const {
    return result_us_ == chains_ * (levels * descent::level_us + end_us + gap_us);
  }

protected:
  static constexpr long pages = 32;
  static constexpr int levels = 12;
  static constexpr long end_us = 30'000;
  static constexpr long gap_us = 2'500;

  BENCH_TASK long spine(long* paused_us, long chains) {
    long along = 0;
    BENCH_SCOPE(s);
    for (long i = 0; i < chains; ++i) {
      BENCH_FORK_VOID(s, chain_of, paused_us + i, pages, levels, end_us);
      along += pause_for(gap_us);
    }
    BENCH_JOIN(s);
    return std::accumulate(paused_us, paused_us + chains, along);
  }

  long chains_;
  std::vector<long> paused_us_;
  long result_us_ = -1;
};

} // namespace bench
