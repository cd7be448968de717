// SPDX-License-Identifier: MIT
// The cases of reason_cases.h where thieves come when they please.
#include "tests/api/reason_cases.h"

namespace {
const nopal_test::start with{4};
}
