// SPDX-License-Identifier: MIT
// The cases of engine_cases.cc where there is one thread.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{1};
}
