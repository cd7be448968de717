// SPDX-License-Identifier: MIT
// arms: P workers hold about P^2 / 2 stacks, each with one frame that waits and S1 pages that were
// touched, although a thief takes an ancestor's stack wherever one lies idle: the Omega(P^2 S1) of
// cilk-m-pact10, section 3, strategy 6. Made for the study `strategies`; `--n` is P.
//
// A spine forks arms, and is serial for a while after each. All workers but the spine's build an
// arm: each of its levels forks a child that goes deep and ends only when the arm is built, and the
// level's own path goes on to the next level on another worker. No stack above is idle then, so
// that worker needs one of its own. At the end the arm's last level holds the arm, for one worker,
// until the last arm is built. The other workers are free again, and build the next arm: with one
// level less, since a holder is no builder.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "bench/harness.h"
#include "bench/pause.h"

namespace bench {

struct arm {
  static constexpr long pages = 60; // that a child uses
  static constexpr long build_us = 20'000;
  static constexpr long child_us = build_us * 9 / 10; // the children end before the next arm begins
};

BENCH_TASK long arm_child(long pages) {
  const long touched = go_deep(pages);
  pause_for(arm::child_us);
  return touched;
}

// One arm of so many levels, held for `hold_us`. Returns the pages that its children have touched.
BENCH_TASK long build_arm(long levels, long hold_us) {
  if (levels == 0) {
    pause_for(hold_us);
    return 0;
  }
  long child = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, child, arm_child, arm::pages);
  const long below = build_arm(levels - 1, hold_us);
  BENCH_JOIN(s);
  return child + below;
}

// A spine that forks an arm and goes on to the others.
BENCH_TASK long build_arms(long levels) {
  if (levels == 0)
    return 0;
  long first = 0;
  BENCH_SCOPE(s);
  BENCH_FORK(s, first, build_arm, levels, arm::build_us * (levels + 1));
  pause_for(arm::build_us);
  const long others = build_arms(levels - 1);
  BENCH_JOIN(s);
  return first + others;
}

class arms_problem {
public:
  static constexpr const char* name = "arms";

  explicit arms_problem(size chosen) : arms_problem(chosen, chosen == size::test ? 3 : 8) {}
  arms_problem(size, long workers) : levels_(workers - 2) {
    if (workers < 3 || workers > 64)
      throw std::invalid_argument("arms needs --n 3 to 64, the number of workers");
  }

  long n() const { return levels_ + 2; }
  // A fork for each arm, and one for each of its levels.
  std::uint64_t forks() const { return static_cast<std::uint64_t>(levels_ + stacks()); }
  void prepare() { make_pauses_exact(); }
  void compute() { touched_ = build_arms(levels_); }
  bool verify() const { return touched_ == stacks() * arm::pages; }

private:
  long stacks() const { return levels_ * (levels_ + 1) / 2; }

  long levels_; // of the first arm
  long touched_ = -1;
};

} // namespace bench
