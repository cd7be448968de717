// SPDX-License-Identifier: MIT
// deep_leaves: like suspended, one chain of frames in which nearly every level is stolen, but each
// child goes deep before it ends. What it touched lies dead below its parent's frame, on another
// stack at each level: where pages are kept, memory grows with each steal. Made for the study
// `space`; not one of the papers' problems.
#pragma once

#include <cstdint>

#include "bench/harness.h"
#include "bench/problems/descent.h"

namespace bench {

inline constexpr long deep_pages = 60;

BENCH_TASK long deep_child(long pages) {
  pause_for(descent::child_us);
  return go_deep(pages);
}

// Returns the sum of the depths: `odd` and `even` pages, level by level.
BENCH_TASK long descend_over_leaves(long levels, long odd, long even) {
  if (levels == 0)
    return 0;
  long child = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, child, deep_child, levels % 2 == 0 ? even : odd);
  pause_for(descent::step_us);
  const long below = descend_over_leaves(levels - 1, odd, even);
  BENCH_JOIN(s);
  return child + below;
}

class deep_leaves_problem {
public:
  static constexpr const char* name = "deep_leaves";

  explicit deep_leaves_problem(size chosen)
      : deep_leaves_problem(chosen, chosen == size::test ? 20 : 400) {}
  deep_leaves_problem(size, long levels) : levels_(levels) {}

  long n() const { return levels_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(levels_); }
  void prepare() { make_pauses_exact(); }
  void compute() { touched_ = descend_over_leaves(levels_, deep_pages, deep_pages); }
  bool verify() const { return touched_ == levels_ * deep_pages; }

private:
  long levels_;
  long touched_ = -1;
};

} // namespace bench
