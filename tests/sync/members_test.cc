// SPDX-License-Identifier: MIT
// The members of nodes that lie above each other, and the waiters for the last member's end.
#include "nopal/sync/members.h"

#include "waiter.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

struct members_of_nodes : testing::Test {
  nopal::sync::members<waiter> upper{nullptr};
  nopal::sync::members<waiter> lower{&upper};
  waiter a, b;
};

TEST_F(members_of_nodes, where_there_is_none_nobody_waits) {
  EXPECT_FALSE(upper.any());
  EXPECT_FALSE(upper.join(&a));
}

TEST_F(members_of_nodes, the_last_one_returns_all_that_wait) {
  upper.begin_one();
  upper.begin_one();
  EXPECT_TRUE(upper.join(&a));
  EXPECT_TRUE(upper.join(&b));
  EXPECT_EQ(upper.end_one(), nullptr);
  EXPECT_EQ(all_from(upper.end_one()), (waiters{&a, &b}));
  EXPECT_FALSE(upper.any());
}

TEST_F(members_of_nodes, a_member_counts_at_the_nodes_above) {
  lower.begin_one();
  EXPECT_TRUE(upper.any());
  EXPECT_TRUE(upper.join(&a));
  EXPECT_TRUE(lower.join(&b));
  EXPECT_EQ(all_from(lower.end_one()), (waiters{&b, &a}));
}

TEST_F(members_of_nodes, a_member_of_the_upper_node_keeps_its_waiters) {
  upper.begin_one();
  lower.begin_one();
  EXPECT_TRUE(upper.join(&a));
  EXPECT_TRUE(lower.join(&b));
  EXPECT_EQ(all_from(lower.end_one()), (waiters{&b}));
  EXPECT_FALSE(lower.any());
  EXPECT_EQ(all_from(upper.end_one()), (waiters{&a}));
}

TEST_F(members_of_nodes, one_that_was_cancelled_is_not_returned_and_leaves) {
  upper.begin_one();
  EXPECT_TRUE(upper.join(&a));
  EXPECT_TRUE(upper.join(&b));
  a.cancel();
  EXPECT_EQ(all_from(upper.end_one()), (waiters{&b}));
  upper.leave(&a);
  upper.begin_one();
  EXPECT_EQ(upper.end_one(), nullptr);
}

} // namespace
} // namespace nopal_test
