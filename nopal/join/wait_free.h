// SPDX-License-Identifier: MIT
// Nowa's strand counter: tells the last strand of a scope that it is the last, without a lock and
// without a loop. README.md has the argument.
//
// Before the main path arrives at the join no call returns true. From then on exactly one call of
// child_finished or arrive returns true, and its caller has the rest of the function resumed.
//
//   alpha    continuations of this scope stolen since the last join; only the main path writes it
//   omega    detached children that are finished
//   counter  -omega before the main path arrives at the join, alpha - omega afterwards
//
// Invariant: running children N = alpha - omega >= 0.
// Orders:
//   D  child_finished: fetch_sub acq_rel. Partners: D and J. The last strand acquires what all
//      others wrote before they released it.
//   J  arrive: fetch_add acq_rel. Partner: D. For the same reason.
// Wait-free: each operation is one atomic instruction. Overflow: counters have 63 bits.
// Paper: nowa-ipdps21, section IV, equations 1 to 5.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::join {

class wait_free {
public:
  // Called when the main path has just been stolen, before it goes on.
  void count_steal() noexcept { alpha_ = alpha_ + 1; }
  std::int64_t steals() const noexcept { return alpha_; }

  // Called by a detached child, as its last access to the scope. True: it was the last strand.
  bool child_finished() noexcept { return counter_.fetch_sub(1, base::acq_rel) == 1; } // D

  // Whether child_finished would return true now. The answer may change to true at any time.
  bool last_child() const noexcept { return counter_.load(base::relaxed) == 1; }

  // Called by the main path at the join, as its last access. True: it was the last strand.
  bool arrive() noexcept {
    const std::int64_t stolen = steals();
    return counter_.fetch_add(stolen, base::acq_rel) + stolen == 0; // J
  }

  // Called by the last strand's thread, after the join.
  void reset() noexcept {
    alpha_ = 0;
    counter_.store(0, base::relaxed);
  }

private:
  base::handed_over<std::int64_t> alpha_{0};
  base::atomic<std::int64_t> counter_{0};
};

} // namespace nopal::inline NOPAL_ABI::join
NOPAL_HIDDEN_END
