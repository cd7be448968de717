// SPDX-License-Identifier: MIT
// The cases of stopping_cases.h and stop_points_cases.h on one worker.
#include "tests/api/stop_points_cases.h"
#include "tests/api/stopping_cases.h"

namespace {
const nopal_test::start with{1};
}
