// SPDX-License-Identifier: MIT
// The cases of io_cases.h where almost every continuation is stolen.
#include "tests/io/io_cases.h"

namespace {
const nopal_test::start with{4, 27};
}
