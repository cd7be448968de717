// SPDX-License-Identifier: MIT
// The cases of find_cases.h where almost every continuation is stolen.
#include "tests/api/find_cases.h"

namespace {
const nopal_test::start with{4, 45};
}
