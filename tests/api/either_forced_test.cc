// SPDX-License-Identifier: MIT
// The cases of either_cases.h where almost every continuation is stolen.
#include "tests/api/either_cases.h"

namespace {
const nopal_test::start this_program{4, 43};
}
