// SPDX-License-Identifier: MIT
// The cases of find_cases.h where almost every continuation is stolen.
#include "tests/api/find_cases.h"

namespace {
const nopal_test::start this_program{4, 45};
}
