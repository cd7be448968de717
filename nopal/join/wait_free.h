// SPDX-License-Identifier: MIT
// Nowa's strand counter: tells the last strand of a scope that it is the last, without a lock and
// without a loop. README.md has the argument.
//
// Until the main path arrives at the join, no strand is the last; after that, exactly one call of
// child_finished or arrive returns true. Its thread sees to the rest of the function.
//
//   alpha    continuations of this scope stolen since the last join; the main path's
//   omega    detached children that are finished
//   counter  -omega before the main path arrives at the join, alpha - omega afterwards
//
// Invariant: running children N = alpha - omega >= 0.
// Orders:
//   D  child_finished: fetch_sub acq_rel. Partners: D and J. The last strand acquires what all
//      others wrote before they released it.
//   J  arrive: fetch_add acq_rel. Partner: D. The same.
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
  // Main path, just stolen.
  void count_steal() noexcept { alpha_ = alpha_ + 1; }
  std::int64_t steals() const noexcept { return alpha_; }

  // A detached child, as its last access to the scope. True: the child was the last strand.
  bool child_finished() noexcept { return counter_.fetch_sub(1, base::acq_rel) == 1; } // D

  // Whether child_finished would return true now. The answer may change to true at any time.
  bool last_child() const noexcept { return counter_.load(base::relaxed) == 1; }

  // Main path at the join, as its last access. True: the main path was the last strand.
  bool arrive() noexcept {
    const std::int64_t stolen = steals();
    return counter_.fetch_add(stolen, base::acq_rel) + stolen == 0; // J
  }

  // The last strand, after the join.
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
