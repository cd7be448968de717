// SPDX-License-Identifier: MIT
// A program that is linked with this file counts from its start, as each test of a check build
// does.
#include "tools/census.h"

namespace {

[[maybe_unused]] const bool counting = (census::start(), true);

} // namespace
