// SPDX-License-Identifier: MIT
// The other cases as the serial elision.
#define NOPAL_SERIAL 1
#include "tests/algorithms/elements_cases.cc"
#include "tests/algorithms/filter_cases.cc"
#include "tests/algorithms/sort_cases.cc"
