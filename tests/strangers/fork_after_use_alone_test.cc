// SPDX-License-Identifier: MIT
// The cases of fork_after_use_cases.cc with one worker.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{1};
}
