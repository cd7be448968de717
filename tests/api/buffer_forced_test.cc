// SPDX-License-Identifier: MIT
// The cases of buffer_cases.h where almost every continuation is stolen.
#include "tests/api/buffer_cases.h"

namespace {
const nopal_test::start with{4, 29};
}
