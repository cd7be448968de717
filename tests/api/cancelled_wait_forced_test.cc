// SPDX-License-Identifier: MIT
// The cases of cancelled_wait_cases.h where almost every continuation is stolen.
#include "tests/api/cancelled_wait_cases.h"

namespace {
const nopal_test::start with{4, 49};
}
