// SPDX-License-Identifier: MIT
// The cases of cancelable_within_cases.cc where almost every continuation is stolen.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{4, 47};
}
