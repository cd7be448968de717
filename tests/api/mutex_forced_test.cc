// SPDX-License-Identifier: MIT
// The cases of mutex_cases.h where almost every continuation is stolen.
#include "tests/api/mutex_cases.h"

namespace {
const nopal_test::start this_program{4, 14};
}
