// SPDX-License-Identifier: MIT
// A deque's owner against real thieves, for minutes.
#include "tests/deque/map_deque.h"

#include "tests/deque/stress_long_cases.h"
