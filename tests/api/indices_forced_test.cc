// SPDX-License-Identifier: MIT
// The cases of indices_cases.h where almost every continuation is stolen.
#include "tests/api/indices_cases.h"

namespace {
const nopal_test::start this_program{4, 5};
}
