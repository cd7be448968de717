// SPDX-License-Identifier: MIT
// The cases of affine_cases.h where thieves come when they please.
#include "tests/api/affine_cases.h"

namespace {
const nopal_test::start this_program{4};
}
