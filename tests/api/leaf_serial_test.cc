// SPDX-License-Identifier: MIT
// The cases of leaf_cases.h as the serial elision.
#define NOPAL_SERIAL 1
#include "tests/api/leaf_cases.h"
