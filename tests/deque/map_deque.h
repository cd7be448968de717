// SPDX-License-Identifier: MIT
// Nopal's deque over the stack of the tests.
#pragma once

#include "nopal/deque/stack_map.h"
#include "tests/deque/deque_stress.h"

namespace nopal_test {

using map_deque = nopal::deque::stack_map<fork_record, nopal::stack::marks, frames>;
using all_deques = testing::Types<map_deque>;

} // namespace nopal_test
