// SPDX-License-Identifier: MIT
// The cases of leaf_cases.h with forks.
#include "tests/api/leaf_cases.h"
