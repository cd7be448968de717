// SPDX-License-Identifier: MIT
// The cases of nested_cases.h on virtual workers.
#include "tests/api/nested_cases.h"

namespace {
struct start {
  start() { nopal::configure({.virtual_workers = 3, .seed = 7}); }
} const with;
} // namespace
