// SPDX-License-Identifier: MIT
// The cases of clock_cases.cc where almost every continuation is stolen.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{4, 59};
}
