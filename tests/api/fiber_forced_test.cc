// SPDX-License-Identifier: MIT
// The cases of fiber_cases.h where almost every continuation is stolen.
#include "tests/api/fiber_cases.h"

namespace {
const nopal_test::start with{4, 19};
}
