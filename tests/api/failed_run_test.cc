// SPDX-License-Identifier: MIT
// The cases of failed_run_cases.h where thieves come when they please.
#include "tests/api/failed_run_cases.h"

namespace {
const nopal_test::start with{4};
}
