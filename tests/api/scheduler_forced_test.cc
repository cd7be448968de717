// SPDX-License-Identifier: MIT
// The cases of scheduler_cases.h where almost every continuation is stolen.
#include "tests/api/scheduler_cases.h"

namespace {
const nopal_test::start with{4, 29};
}
