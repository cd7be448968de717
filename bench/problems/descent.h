// SPDX-License-Identifier: MIT
// A descent: a chain of frames, each of which forks a short child and goes on to the next level
// itself, so that a thief may leave each frame open.
//
// Its strands do nothing but wait for the clock, so more workers than processors show the schedule
// too. Other programs wait likewise.
#pragma once

#include <sys/prctl.h>

#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "bench/harness.h"

namespace bench {

// Waits that long, and returns it.
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
  long own = pause_for(descent::step_us);
  own += descend(levels - 1, end_us);
  BENCH_JOIN(s);
  return child + own;
}

} // namespace bench
