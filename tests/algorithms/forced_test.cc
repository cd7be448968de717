// SPDX-License-Identifier: MIT
// The cases of distribute_cases.cc, lazy_cases.cc, elements_cases.cc, filter_cases.cc,
// pipeline_cases.cc, random_cases.cc, scan_cases.cc, sort_cases.cc and worklist_cases.cc where
// almost every continuation is stolen.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{4, 12};
}
