// SPDX-License-Identifier: MIT
// The cases of engine_cases.cc where most continuations are stolen.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{4, 33};
}
