// SPDX-License-Identifier: MIT
// The cases that split, scan, draw numbers and share work as the serial elision; of the others
// serial_long_test.cc has it.
#define NOPAL_SERIAL 1
#include "tests/algorithms/lazy_cases.cc"
#include "tests/algorithms/pipeline_cases.cc"
#include "tests/algorithms/random_cases.cc"
#include "tests/algorithms/scan_cases.cc"
#include "tests/algorithms/worklist_cases.cc"
