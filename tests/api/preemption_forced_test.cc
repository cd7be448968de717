// SPDX-License-Identifier: MIT
// The cases of preemption_cases.h where most continuations are stolen, and about each eighth fork
// and poll gives way.
#include "tests/api/preemption_cases.h"

namespace {
const nopal_test::start this_program{4, 5};
}
