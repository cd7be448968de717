// SPDX-License-Identifier: MIT
// The cases of external_cases.h where almost every continuation is stolen.
#include "tests/api/support.h"

namespace {
const nopal_test::start this_program{4, 11}; // before what forks before main
}

#include "tests/api/external_cases.h"
