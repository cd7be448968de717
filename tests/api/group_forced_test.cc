// SPDX-License-Identifier: MIT
// The cases of group_cases.h where almost every continuation is stolen.
#include "tests/api/group_cases.h"

namespace {
const nopal_test::start with{4, 37};
}
