// SPDX-License-Identifier: MIT
// The cases of scheduler_cases.h where thieves come when they please.
#include "tests/api/scheduler_cases.h"

namespace {
const nopal_test::start with{4};
}
