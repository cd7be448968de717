// SPDX-License-Identifier: MIT
// The cases of failed_run_cases.h where almost every continuation is stolen.
#include "tests/api/failed_run_cases.h"

namespace {
const nopal_test::start with{4, 61};
}
