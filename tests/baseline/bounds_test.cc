// SPDX-License-Identifier: MIT
// Which bounds on stacks each of the libraries in bench/baseline has.
#include "nopal/runtime.h"
#include "nopal/sched/pool.h"
#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <string>

namespace nopal_test {
namespace {

#define NOPAL_TEXT_OF(name) #name
#define NOPAL_TEXT(name) NOPAL_TEXT_OF(name)

TEST(baseline, has_its_bounds_on_stacks) {
  const std::string parts = NOPAL_TEXT(NOPAL_PARTS);
  const auto use = nopal::vproc::options_in_force();
  EXPECT_EQ(use.stack_budget.value, parts == "fibril" ? 0 : nopal::unlimited) << parts;
  EXPECT_EQ(use.max_stacks.value, parts == "cilkplus" ? 2400u : 0u) << parts;
}

} // namespace
} // namespace nopal_test
