// SPDX-License-Identifier: MIT
// The cases of stop_token_cases.h where thieves come when they please.
#include "tests/api/stop_token_cases.h"

namespace {
const nopal_test::start this_program{4};
}
