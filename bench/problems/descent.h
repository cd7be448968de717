// SPDX-License-Identifier: MIT
// A descent: a chain of frames, each of which forks a short child and goes on to the next level
// itself, so that a thief may leave each frame open.
#pragma once

#include "bench/harness.h"
#include "bench/pause.h"

namespace bench {

struct descent {
  static constexpr long child_us = 100; // long enough for a thief to arrive
  static constexpr long step_us = 50;
  static constexpr long level_us = child_us + step_us;
};

BENCH_TASK long brief_child(long us) { return pause_for(us); }

// `levels` frames, each of which a thief may leave open, and then `end_us` in one piece.
[[maybe_unused]] BENCH_TASK long descend(int levels, long end_us) {
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
