// SPDX-License-Identifier: MIT
// The cases of fork_in_strand_cases.cc with one worker.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{1};
}
