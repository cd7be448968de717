// SPDX-License-Identifier: MIT
// The cases of cancel_cases.h where almost every continuation is stolen.
#include "tests/api/cancel_cases.h"

namespace {
const nopal_test::start with{4, 41};
}
