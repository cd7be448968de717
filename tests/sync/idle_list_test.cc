// SPDX-License-Identifier: MIT
// The list of idle instances.
#include "nopal/sync/idle_list.h"

#include "waiter.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

TEST(idle_list, the_last_one_that_was_added_is_taken_first) {
  nopal::sync::idle_list<waiter> list;
  waiter a, b;
  EXPECT_EQ(list.take_after_put(), nullptr);
  list.add(&a);
  list.add(&b);
  EXPECT_EQ(list.take_after_put(), &b);
  EXPECT_EQ(list.take(), &a);
  EXPECT_EQ(list.take(), nullptr);
}

TEST(idle_list, is_empty_after_it_was_cleared) {
  nopal::sync::idle_list<waiter> list;
  waiter a, b;
  list.add(&a);
  list.add(&b);
  list.clear();
  EXPECT_EQ(list.take(), nullptr);
  list.add(&a);
  EXPECT_EQ(list.take(), &a);
}

} // namespace
} // namespace nopal_test
