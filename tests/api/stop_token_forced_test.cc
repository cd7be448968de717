// SPDX-License-Identifier: MIT
// The cases of stop_token_cases.h where almost every continuation is stolen.
#include "tests/api/stop_token_cases.h"

namespace {
const nopal_test::start this_program{4, 41};
}
