// SPDX-License-Identifier: MIT
// The cases of arena_cases.h where most continuations are stolen.
#include "tests/api/arena_cases.h"

namespace {
const nopal_test::start this_program{4, 33};
}
