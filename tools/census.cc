// SPDX-License-Identifier: MIT
// A program that this is linked into counts from its start: each test of a check build.
#include "tools/census.h"

namespace {

[[maybe_unused]] const bool counting = (census::start(), true);

} // namespace
