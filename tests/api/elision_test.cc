// SPDX-License-Identifier: MIT
// The cases of elision_cases.h with forks.
#include "tests/api/elision_cases.h"
