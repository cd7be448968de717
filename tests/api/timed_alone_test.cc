// SPDX-License-Identifier: MIT
// The cases of timed_cases.h on one worker.
#include "tests/api/timed_cases.h"

namespace {
const nopal_test::start with{1};
}
