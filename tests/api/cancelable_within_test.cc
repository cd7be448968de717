// SPDX-License-Identifier: MIT
// The cases of cancelable_within_cases.cc where thieves come when they please.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{4};
}
