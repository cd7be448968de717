// SPDX-License-Identifier: MIT
// The cases of buffer_cases.h on one worker.
#include "tests/api/buffer_cases.h"

namespace {
const nopal_test::start with{1};
}
