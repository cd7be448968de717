// SPDX-License-Identifier: MIT
// The cases of action_cases.h where almost every continuation is stolen.
#include "tests/api/action_cases.h"

namespace {
const nopal_test::start this_program{4, 31};
}
