// SPDX-License-Identifier: MIT
// The cases of deadline_cases.h, where a thread of Nopal's watches the deadlines.
#include "tests/api/deadline_cases.h"

#include "tests/api/support.h"

namespace {
const nopal_test::start this_program{2};
}
