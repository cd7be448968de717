// SPDX-License-Identifier: MIT
// The cases of cancelable_cases.h where thieves come when they please.
#include "tests/api/cancelable_cases.h"

namespace {
const nopal_test::start with{4};
}
