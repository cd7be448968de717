// SPDX-License-Identifier: MIT
// The cases of external_cases.cc where thieves come when they please.
#include "tests/api/start.h"

namespace {
// Before what forks before main.
[[gnu::init_priority(1000)]] const nopal_test::start this_program{4};
} // namespace
