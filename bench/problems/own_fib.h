// SPDX-License-Identifier: MIT
// fib as the authors of a runtime wrote it in C, linked from their source (peers.cmake).
#pragma once

#include "bench/problems/fib.h"

extern "C" int fib(int n);

namespace bench {

struct own_fib_problem : fib_problem {
  using fib_problem::fib_problem;
  void compute() { result_ = ::fib(static_cast<int>(n_)); }
};

} // namespace bench
