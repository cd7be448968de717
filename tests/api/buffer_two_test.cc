// SPDX-License-Identifier: MIT
// The cases of buffer_cases.h on two workers.
#include "tests/api/buffer_cases.h"

namespace {
const nopal_test::start with{2};
}
