// SPDX-License-Identifier: MIT
// The table of ranges and algorithms as the serial elision.
#define NOPAL_SERIAL 1
#include "tests/strangers/ranges_read_cases.cc"
#include "tests/strangers/ranges_write_cases.cc"
