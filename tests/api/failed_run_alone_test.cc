// SPDX-License-Identifier: MIT
// The cases of failed_run_cases.cc where there is one thread.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{1};
}
