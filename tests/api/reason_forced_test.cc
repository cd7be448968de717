// SPDX-License-Identifier: MIT
// The cases of reason_cases.h where almost every continuation is stolen.
#include "tests/api/reason_cases.h"

namespace {
const nopal_test::start with{4, 53};
}
