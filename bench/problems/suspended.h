// SPDX-License-Identifier: MIT
// suspended: one chain of frames in which nearly every level is stolen, so that each lies on
// another stack and all of them wait for the last. What many suspended frames cost in stacks and
// pages. Made for this; not one of the papers' problems.
#pragma once

#include <cstdint>

#include "bench/harness.h"
#include "bench/problems/descent.h"

namespace bench {

class suspended_problem {
public:
  static constexpr const char* name = "suspended";

  explicit suspended_problem(size chosen)
      : suspended_problem(chosen, chosen == size::test ? 20 : 400) {}
  suspended_problem(size, long levels) : levels_(static_cast<int>(levels)) {}

  long n() const { return levels_; }
  std::uint64_t forks() const { return static_cast<std::uint64_t>(levels_); }
  void prepare() { make_pauses_exact(); }
  void compute() { result_us_ = descend(levels_, descent::step_us); }
  bool verify() const { return result_us_ == levels_ * descent::level_us + descent::step_us; }

private:
  int levels_;
  long result_us_ = -1;
};

} // namespace bench
