// SPDX-License-Identifier: MIT
// The cases of channel_cases.h where thieves come when they please.
#include "tests/api/channel_cases.h"

namespace {
const nopal_test::start with{4};
}
