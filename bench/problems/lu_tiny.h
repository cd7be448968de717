// SPDX-License-Identifier: MIT
// lu_tiny: lu with blocks of 2 x 2, so that it does little but fork, join and suspend. Made for the
// study `space`; not one of the papers' problems. `--n` is the side of the matrix.
#pragma once

#include <stdexcept>

#define BENCH_LU_SIDE 2
#include "bench/problems/lu.h"

namespace bench {

class lu_tiny_problem : public lu_problem {
public:
  static constexpr const char* name = "lu_tiny";

  explicit lu_tiny_problem(size chosen)
      : lu_tiny_problem(chosen, chosen == size::test ? 32 : 256) {}
  lu_tiny_problem(size, long side) : lu_problem(std::ptrdiff_t{side}) {
    if (side < 4 || side > 1024 || (side & (side - 1)) != 0)
      throw std::invalid_argument("lu_tiny accepts powers of two, --n 4 to 1024");
  }
};

} // namespace bench
