// SPDX-License-Identifier: MIT
// captives: a program with ample parallelism on which thieves that may not go on to any other work
// must wait. Made for this; not one of the papers' problems.
//
// A spine forks chains. A chain first descends a few levels: each forks a short child and goes on
// to the next level itself, so that whoever steals there leaves the worker that ran the child with
// an open frame on its stack until the whole chain ends. Then the chain is serial for long. What
// else is ready, the rest of the spine, lies shallower than every such frame: a worker that may
// only steal deeper waits (strategy 3 of cilk-m-pact10, section 3), and one that needs another
// stack waits if there is none (strategy 4). Between two chains the spine is serial for a while, so
// that idle workers turn to the chain.
//
// With two workers nobody waits: all that is ready then descends from the frame that was stolen
// last.
//
// All work is waiting for the clock. The schedule therefore shows with more workers than
// processors too.
#pragma once

#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bench/harness.h"

namespace bench {

// Returns the microseconds it waited, as asked.
inline long pause_for(long us) {
  timespec left{us / 1'000'000, us % 1'000'000 * 1000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
  return us;
}

// The kernel may prolong each pause by 50 us otherwise. Threads inherit this from their creator.
inline void make_pauses_exact() {
  if (prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) != 0)
    throw std::runtime_error("the kernel does not let this thread set its timer slack");
}

struct descent {
  static constexpr long child_us = 100; // long enough for a thief to arrive
  static constexpr long step_us = 50;
  static constexpr long level_us = child_us + step_us;
};

BENCH_TASK long brief_child(long us) { return pause_for(us); }

// `levels` frames, each of which a thief may leave open, and then `end_us` in one piece.
BENCH_TASK long descend(int levels, long end_us) {
  if (levels == 0)
    return pause_for(end_us);
  long child = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, child, brief_child, descent::child_us);
  long here = pause_for(descent::step_us);
  here += descend(levels - 1, end_us);
  BENCH_JOIN(s);
  return child + here;
}

BENCH_TASK void chain(long* paused_us, int levels, long end_us) {
  *paused_us = descend(levels, end_us);
}

class captives_problem {
public:
  static constexpr const char* name = "captives";

  explicit captives_problem(size chosen) : chains_(chosen == size::test ? 3 : 24) {}

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

private:
  static constexpr int levels = 12;
  static constexpr long end_us = 30'000;
  static constexpr long gap_us = 2'500;

  BENCH_TASK long spine(long* paused_us, long chains) {
    long along = 0;
    BENCH_SCOPE(s);
    for (long i = 0; i < chains; ++i) {
      BENCH_FORK_VOID(s, chain, paused_us + i, levels, end_us);
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
