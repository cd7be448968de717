// SPDX-License-Identifier: MIT
// The cases of channel_cases.h where almost every continuation is stolen.
#include "tests/api/channel_cases.h"

namespace {
const nopal_test::start with{4, 23};
}
