// SPDX-License-Identifier: MIT
// The same cases as the serial elision.
#define NOPAL_SERIAL 1
#include "tests/algorithms/elements_cases.cc"
#include "tests/algorithms/filter_cases.cc"
#include "tests/algorithms/lazy_cases.cc"
#include "tests/algorithms/pipeline_cases.cc"
#include "tests/algorithms/random_cases.cc"
#include "tests/algorithms/scan_cases.cc"
#include "tests/algorithms/sort_cases.cc"
#include "tests/algorithms/worklist_cases.cc"
