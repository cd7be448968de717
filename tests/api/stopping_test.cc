// SPDX-License-Identifier: MIT
// The cases of stopping_cases.h where thieves come at any instruction.
#include "tests/api/stopping_cases.h"

namespace {
const nopal_test::start with{4};
}
