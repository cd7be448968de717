// SPDX-License-Identifier: MIT
// The cases of deadlock_cases.cc with four workers.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{4};
}
