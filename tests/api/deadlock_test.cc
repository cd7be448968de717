// SPDX-License-Identifier: MIT
// The cases of deadlock_cases.h with four workers.
#include "tests/api/deadlock_cases.h"

namespace {
const nopal_test::start with{4};
}
