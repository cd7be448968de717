// SPDX-License-Identifier: MIT
// Channels with buffers, semaphores and timed waits where almost every continuation is stolen.
#include "tests/api/buffer_cases.h"
#include "tests/api/timed_cases.h"

namespace {
const nopal_test::start with{4, 29};
}
