// SPDX-License-Identifier: MIT
// The cases of leaf_cases.h where almost every continuation is stolen.
#include "tests/api/leaf_cases.h"
#include "tests/api/support.h"

namespace {
const nopal_test::start this_program{4, 817};
}
