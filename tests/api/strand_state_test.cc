// SPDX-License-Identifier: MIT
// The cases of strand_state_cases.h where thieves come when they please.
#include "tests/api/strand_state_cases.h"

namespace {
const nopal_test::start this_program{4};
}
