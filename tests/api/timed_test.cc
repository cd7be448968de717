// SPDX-License-Identifier: MIT
// The cases of timed_cases.h where thieves come when they please.
#include "tests/api/timed_cases.h"

namespace {
const nopal_test::start with{4};
}
