// SPDX-License-Identifier: MIT
// The cases of cancelled_wait_cases.h where thieves come when they please.
#include "tests/api/cancelled_wait_cases.h"

namespace {
const nopal_test::start with{4};
}
