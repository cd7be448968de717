// SPDX-License-Identifier: MIT
// The cases of nested_cases.h with one worker.
#include "tests/api/nested_cases.h"

namespace {
const nopal_test::start with{1};
}
