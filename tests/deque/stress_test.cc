// SPDX-License-Identifier: MIT
// A deque's owner against real thieves.
#include "tests/deque/map_deque.h"

#include "tests/deque/stress_cases.h"
