// SPDX-License-Identifier: MIT
// board_fib: fib as the public board of runtimes measures it (tzcnt/runtime-benchmarks), of 39.
#pragma once

#include "bench/problems/fib.h"

namespace bench {

class board_fib_problem : public fib_problem {
public:
  static constexpr const char* name = "board_fib";
  explicit board_fib_problem(size chosen) : fib_problem(chosen, chosen == size::test ? 24 : 39) {}
};

} // namespace bench
