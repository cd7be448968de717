// SPDX-License-Identifier: MIT
// The cases of io_cases.cc with one worker.
#include "tests/api/support.h"

namespace {
const nopal_test::start with{1};
}
