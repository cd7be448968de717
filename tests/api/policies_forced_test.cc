// SPDX-License-Identifier: MIT
// The cases of policies_cases.h where most continuations are stolen.
#include "tests/api/policies_cases.h"

namespace {
const nopal_test::start this_program{4, 21};
}
