// SPDX-License-Identifier: MIT
// The cases of buffer_cases.cc, group_cases.cc and timed_cases.cc on two workers.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{2};
}
