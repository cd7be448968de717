// SPDX-License-Identifier: MIT
// A deque's owner against real thieves, for minutes.
#include "tests/baseline/classic_deques.h"

#include "tests/deque/stress_long_cases.h"
