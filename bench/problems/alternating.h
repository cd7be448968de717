// SPDX-License-Identifier: MIT
// alternating: deep_leaves where only each second child goes deep, so that a stack's depth now says
// nothing of its depth next time. Made for the study `space`; not one of the papers' problems.
#pragma once

#include <cstdint>

#include "bench/problems/deep_leaves.h"

namespace bench {

class alternating_problem {
public:
  static constexpr const char* name = "alternating";

  explicit alternating_problem(size chosen)
      : alternating_problem(chosen, chosen == size::test ? 20 : 100) {}
  alternating_problem(size, long levels) : levels_(levels) {}

  long n() const { return levels_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(levels_ * rounds); }
  void prepare() { make_pauses_exact(); }

  // Whether a level's child is a deep one changes from round to round.
  void compute() {
    touched_ = 0;
    for (long round = 0; round < rounds; ++round)
      touched_ += round % 2 == 0 ? descend_over_leaves(levels_, deep_pages, 1)
                                 : descend_over_leaves(levels_, 1, deep_pages);
  }
  bool verify() const {
    const long odd = (levels_ + 1) / 2;
    const long even = levels_ / 2;
    const long pair = (odd + even) * (deep_pages + 1);
    return touched_ == rounds / 2 * pair;
  }

private:
  static constexpr long rounds = 4;

  long levels_;
  long touched_ = -1;
};

} // namespace bench
