// SPDX-License-Identifier: MIT
// The cases of arena_cases.h where most continuations are stolen.
#include "tests/api/arena_cases.h"

namespace {
const nopal_test::start with{4, 33};
}
