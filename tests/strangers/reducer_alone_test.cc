// SPDX-License-Identifier: MIT
// The cases of reducer_cases.cc on one worker.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{1};
}
