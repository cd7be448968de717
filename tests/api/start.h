// SPDX-License-Identifier: MIT
// How a test program starts. Some programs have no more than this, and cases of other files.
#pragma once

#include "nopal/runtime.h"
#include "nopal/vproc/settings.h"

#include <cstdint>

namespace nopal_test {

// A static object of this type decides, before main, how the test program runs. More workers than
// processors, so that thieves come at any instruction.
struct start {
  explicit start(unsigned workers) { nopal::configure({.num_workers = workers}); }
  start(unsigned workers, std::uint64_t seed) : start(workers) { nopal::vproc::force_steals(seed); }
};

} // namespace nopal_test
