// SPDX-License-Identifier: MIT
// The cases of fork_cases.h where thieves come when they please.
#include "tests/api/fork_cases.h"

namespace {
const nopal_test::start with{4};
}
