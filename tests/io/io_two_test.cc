// SPDX-License-Identifier: MIT
// The cases of io_cases.h with two workers.
#include "tests/io/io_cases.h"

namespace {
const nopal_test::start with{2};
}
