// SPDX-License-Identifier: MIT
// Which stack policy each of the libraries in bench/baseline has.
#include "nopal/runtime.h"
#include "nopal/sched/pool.h"

#include <gtest/gtest.h>

#include <string>

namespace nopal_test {
namespace {

#define NOPAL_TEXT_OF(name) #name
#define NOPAL_TEXT(name) NOPAL_TEXT_OF(name)

TEST(baseline, has_its_stack_policy) {
  const std::string parts = NOPAL_TEXT(NOPAL_PARTS);
  const auto policy = nopal::sched::options_in_force().policy.value.policy;
  if (parts == "fibril")
    EXPECT_EQ(policy, nopal::stack_policy::dontneed);
  else if (parts == "cilkplus")
    EXPECT_EQ(policy, nopal::stack_policy::bounded);
  else if (parts == "bare")
    EXPECT_EQ(policy, nopal::stack_policy::budget);
  else
    EXPECT_EQ(policy, nopal::stack_policy::keep) << parts;
}

} // namespace
} // namespace nopal_test
