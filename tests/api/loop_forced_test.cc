// SPDX-License-Identifier: MIT
// The cases of loop_cases.h where almost every continuation is stolen.
#include "tests/api/loop_cases.h"

namespace {
const nopal_test::start this_program{4, 5};
}
