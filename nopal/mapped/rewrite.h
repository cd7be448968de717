// SPDX-License-Identifier: MIT
// The C library's private futexes: most are made shared where they are called, which costs no trap.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::mapped {

// Rewrites the calls of futex(2) in this code. Returns how many. What it does not find, and all if
// the kernel refuses, is left to the filter. No other thread may run.
unsigned rewrite_futexes(std::uintptr_t from, std::uintptr_t to) noexcept;

} // namespace nopal::mapped
NOPAL_HIDDEN_END
