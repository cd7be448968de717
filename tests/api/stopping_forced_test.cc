// SPDX-License-Identifier: MIT
// The cases of stopping_cases.h where almost every continuation is stolen.
#include "tests/api/stopping_cases.h"

namespace {
const nopal_test::start with{4, 3907};
}
