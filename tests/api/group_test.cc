// SPDX-License-Identifier: MIT
// The cases of group_cases.h where thieves come when they please.
#include "tests/api/group_cases.h"

namespace {
const nopal_test::start with{4};
}
