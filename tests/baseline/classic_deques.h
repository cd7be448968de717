// SPDX-License-Identifier: MIT
// The deques that Nopal's is compared with, over the stack of the tests.
#pragma once

#include "bench/baseline/chase_lev.h"
#include "bench/baseline/the.h"
#include "tests/deque/deque_stress.h"

namespace nopal_test {

using all_deques = testing::Types<nopal::deque::the<fork_record, frames>,
                                  nopal::deque::chase_lev<fork_record, frames, 2>>; // grows soon

} // namespace nopal_test
