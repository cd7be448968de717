// SPDX-License-Identifier: MIT
// The cases of timed_cases.h where almost every continuation is stolen.
#include "tests/api/timed_cases.h"

namespace {
const nopal_test::start with{4, 31};
}
