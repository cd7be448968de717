// SPDX-License-Identifier: MIT
// The cases of elision_cases.h where almost every continuation is stolen.
#include "tests/api/elision_cases.h"
#include "tests/api/support.h"

namespace {
const nopal_test::start this_program{4, 716};
}
