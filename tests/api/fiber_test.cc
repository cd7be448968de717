// SPDX-License-Identifier: MIT
// The cases of fiber_cases.h where thieves come when they please.
#include "tests/api/fiber_cases.h"

namespace {
const nopal_test::start with{4};
}
