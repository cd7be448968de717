// SPDX-License-Identifier: MIT
// The cases of stopping_cases.h on one worker.
#include "tests/api/stopping_cases.h"

namespace {
const nopal_test::start with{1};
}
