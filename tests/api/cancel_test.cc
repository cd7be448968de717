// SPDX-License-Identifier: MIT
// The cases of cancel_cases.h where thieves come when they please.
#include "tests/api/cancel_cases.h"

namespace {
const nopal_test::start with{4};
}
