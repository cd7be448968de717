// SPDX-License-Identifier: MIT
//
// Nowa's strand counter: it tells the last strand of a scope that it is the last, without a lock
// and without a loop.
//
// A scope's main path is the strand that forks and joins; a child is detached once its
// continuation, the main path, was stolen. Until the main path arrives at the join, no strand is
// the last; after that, exactly one call of child_finished or arrive returns true.
//
//   alpha    continuations of this scope stolen since the last join   written by the main path only
//   omega    children that finished detached (their continuation was stolen)
//   counter  -omega before the main path arrives at the join, alpha - omega afterwards
//
// Invariant: running children N = alpha - omega >= 0.
// Before the join, counter = -omega <= 0, and a finishing child leaves counter <= -1: nobody sees
// zero, so it does not matter that a thief counts its steal (alpha) after the child may have
// finished (omega). At the join alpha no longer changes, since only the main path forks; adding it
// makes counter = N. From then on whoever brings the counter to zero goes on after the join: the
// last child, or the main path itself when N is zero already. Exactly one of them does.
// The paper starts at I_max - omega and subtracts I_max - alpha; the signed form says the same with
// I_max = 0 and needs no constant.
//
// Orders:
//   D  child_finished: fetch_sub acq_rel. Release: what the child wrote is seen by whoever goes on.
//   J  arrive: fetch_add acq_rel. Acquire: whoever goes on sees what all others wrote.
// Wait-free: each operation is one atomic instruction. Overflow: counters have 63 bits.
// Paper: nowa-ipdps21, section IV, equations 1 to 5.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::join {

class wait_free {
public:
  // Main path, which just was stolen.
  void count_steal() noexcept { alpha_ = alpha_ + 1; }
  std::int64_t steals() const noexcept { return alpha_; }

  // A detached child, as its very last access to the scope unless it is true: then it goes on after
  // the join.
  bool child_finished() noexcept { return counter_.fetch_sub(1, base::acq_rel) == 1; } // D

  // Would child_finished be true now? A hint: the answer may change to true.
  bool last_child() const noexcept { return counter_.load(base::relaxed) == 1; }

  // Main path at the join, as its very last access unless it is true: then it goes on at once.
  bool arrive() noexcept {
    const std::int64_t stolen = steals();
    return counter_.fetch_add(stolen, base::acq_rel) + stolen == 0; // J
  }

  // Whoever goes on after the join.
  void reset() noexcept {
    alpha_ = 0;
    counter_.store(0, base::relaxed);
  }

private:
  base::handed_over<std::int64_t> alpha_{0};
  base::atomic<std::int64_t> counter_{0};
};

} // namespace nopal::inline NOPAL_ABI::join
