// SPDX-License-Identifier: MIT
// The cases of floating_point_cases.h where thieves come when they please.
#include "tests/api/floating_point_cases.h"

namespace {
const nopal_test::start this_program{4};
}
