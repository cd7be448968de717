// SPDX-License-Identifier: MIT
// The cases of failed_run_cases.h where there is one thread.
#include "tests/api/failed_run_cases.h"

namespace {
const nopal_test::start with{1};
}
