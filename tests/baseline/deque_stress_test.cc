// SPDX-License-Identifier: MIT
// A deque's owner against real thieves.
#include "tests/baseline/classic_deques.h"

#include "tests/deque/stress_cases.h"
