// SPDX-License-Identifier: MIT
// Channels with buffers, groups, semaphores and timed waits on two workers.
#include "tests/api/buffer_cases.h"
#include "tests/api/group_cases.h"
#include "tests/api/timed_cases.h"

namespace {
const nopal_test::start with{2};
}
