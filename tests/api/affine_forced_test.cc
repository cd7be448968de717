// SPDX-License-Identifier: MIT
// The cases of affine_cases.h where almost every continuation is stolen.
#include "tests/api/affine_cases.h"

namespace {
const nopal_test::start with{4, 12};
}
