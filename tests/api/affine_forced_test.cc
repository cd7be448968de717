// SPDX-License-Identifier: MIT
// The cases of affine_cases.h where almost every continuation is stolen.
#include "tests/api/affine_cases.h"

namespace {
const nopal_test::start this_program{4, 12};
}
