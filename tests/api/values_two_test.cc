// SPDX-License-Identifier: MIT
// The cases of accumulate_cases.cc, flat_cases.cc, for_range_cases.cc, per_worker_cases.cc and
// reducer_cases.cc on two workers.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{2};
}
