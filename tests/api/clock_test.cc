// SPDX-License-Identifier: MIT
// The cases of clock_cases.cc where thieves come when they please.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{4};
}
