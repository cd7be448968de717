// SPDX-License-Identifier: MIT
// The cases of preemption_cases.cc where most continuations are stolen, and about each eighth fork
// and poll gives way.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{4, 5};
}
