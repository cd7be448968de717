// SPDX-License-Identifier: MIT
// The table of ranges and algorithms, ranges_read_cases.cc and ranges_write_cases.cc, where almost
// every continuation is stolen.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{2, 5};
}
