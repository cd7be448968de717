// SPDX-License-Identifier: MIT
// The cases of exception_cases.h where almost every continuation is stolen.
#include "tests/api/exception_cases.h"

namespace {
const nopal_test::start this_program{4, 77};
}
