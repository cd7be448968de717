// SPDX-License-Identifier: MIT
// What a preset chooses, and what its limits must not cost.
#include "nopal/fork.h"
#include "nopal/runtime.h"
#include "nopal/sched/pool.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <string>

namespace nopal_test {
namespace {

#define NOPAL_TEXT_OF(name) #name
#define NOPAL_TEXT(name) NOPAL_TEXT_OF(name)

TEST(preset, has_its_stack_policy) {
  const std::string preset = NOPAL_TEXT(NOPAL_PRESET);
  const auto policy = nopal::sched::options_in_force().policy.value.policy;
  if (preset == "fibril")
    EXPECT_EQ(policy, nopal::stack_policy::dontneed);
  else if (preset == "cilkplus")
    EXPECT_EQ(policy, nopal::stack_policy::bounded);
  else if (preset == "nopal" || preset == "split")
    EXPECT_EQ(policy, nopal::stack_policy::budget);
  else
    EXPECT_EQ(policy, nopal::stack_policy::keep) << preset;
}

// A thief that has no stack must not keep asleep one that could have it.
TEST(preset, every_continuation_is_stolen_while_thieves_lack_stacks) {
  EXPECT_EQ(apart([] {
              nopal::configure({.num_workers = 4, .max_stacks = 2});
              for (int i = 0; i < 50; ++i)
                be_stolen();
              return 0;
            }),
            0);
}

} // namespace
} // namespace nopal_test
