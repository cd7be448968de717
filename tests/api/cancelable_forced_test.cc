// SPDX-License-Identifier: MIT
// The cases of cancelable_cases.h where almost every continuation is stolen.
#include "tests/api/cancelable_cases.h"

namespace {
const nopal_test::start with{4, 47};
}
