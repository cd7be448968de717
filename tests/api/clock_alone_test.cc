// SPDX-License-Identifier: MIT
// The cases of clock_cases.cc where there is one worker.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{1};
}
