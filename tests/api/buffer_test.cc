// SPDX-License-Identifier: MIT
// The cases of buffer_cases.h where thieves come when they please.
#include "tests/api/buffer_cases.h"

namespace {
const nopal_test::start with{4};
}
