// SPDX-License-Identifier: MIT
// lu_tiny: lu with blocks of 2 x 2, so that it does little but fork, join and suspend. Made for the
// study `space`; not one of the papers' problems.
#pragma once

#define BENCH_LU_SIDE 2
#include "bench/problems/lu.h"

namespace bench {

class lu_tiny_problem : public lu_problem {
public:
  static constexpr const char* name = "lu_tiny";

  explicit lu_tiny_problem(size chosen)
      : lu_problem(std::ptrdiff_t{chosen == size::test ? 32 : 256}) {}
};

} // namespace bench
