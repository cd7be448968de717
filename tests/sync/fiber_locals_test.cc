// SPDX-License-Identifier: MIT
// The values of a fiber: for each key the first that was added counts, and each is destroyed once.
#include "nopal/sync/fiber_locals.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::sync::fiber_locals;

int destroyed = 0;
void count_destroyed(fiber_locals::value*) noexcept { ++destroyed; }

TEST(fiber_locals, a_key_finds_the_value_that_was_added_first) {
  const int keys[2] = {};
  fiber_locals::value first{&keys[0], count_destroyed};
  fiber_locals::value late{&keys[0], count_destroyed};
  fiber_locals::value other{&keys[1], count_destroyed};
  destroyed = 0;
  {
    fiber_locals values;
    EXPECT_EQ(values.find(&keys[0]), nullptr);
    EXPECT_EQ(values.find_or_add(&first), &first);
    EXPECT_EQ(values.find_or_add(&other), &other);
    EXPECT_EQ(values.find_or_add(&late), &first);
    EXPECT_EQ(values.find(&keys[0]), &first);
    EXPECT_EQ(values.find(&keys[1]), &other);
  }
  EXPECT_EQ(destroyed, 2); // not the one that was not added
}

} // namespace
} // namespace nopal_test
