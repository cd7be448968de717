// SPDX-License-Identifier: MIT
// The cases of search_cases.cc, change_cases.cc, sort_cases.cc, numeric_cases.cc and
// surroundings_cases.cc where thieves come when they please.
#include "tests/api/start.h"

namespace {
const nopal_test::start this_program{4};
}
