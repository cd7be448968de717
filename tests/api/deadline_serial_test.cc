// SPDX-License-Identifier: MIT
// The cases of deadline_cases.h in the serial elision, which looks at deadlines where it forks.
#define NOPAL_SERIAL 1
#include "tests/api/deadline_cases.h"
