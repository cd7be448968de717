// SPDX-License-Identifier: MIT
// The cases of deadlock_cases.cc with one worker.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{1};
}
