// SPDX-License-Identifier: MIT
// The cases of fork_cases.h where almost every continuation is stolen.
#include "tests/mapped/views_cases.h"

namespace {
const nopal_test::start this_program{4, 2024};
}
