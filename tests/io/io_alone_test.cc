// SPDX-License-Identifier: MIT
// The cases of io_cases.cc and closing_cases.cc with one worker.
#include "tests/api/start.h"

namespace {
const nopal_test::start setup{1};
}
