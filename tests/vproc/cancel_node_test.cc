// SPDX-License-Identifier: MIT
// A fiber that is a member of a node counts there and at all nodes above; its end makes ready the
// fibers that wait for the last member.
#include "nopal/vproc/cancel_node.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::vproc::cancel_node;
using nopal::vproc::fiber;

struct cancel_nodes : testing::Test {
  cancel_node root{nullptr};
  cancel_node parent{&root};
  cancel_node child{&parent};
  cancel_node sibling{&root};
};

TEST_F(cancel_nodes, a_node_is_below_itself_and_those_above) {
  EXPECT_TRUE(child.is_or_is_below(&child));
  EXPECT_TRUE(child.is_or_is_below(&parent));
  EXPECT_TRUE(child.is_or_is_below(&root));
  EXPECT_FALSE(child.is_or_is_below(&sibling));
  EXPECT_FALSE(root.is_or_is_below(&child));
}

TEST_F(cancel_nodes, what_is_cancelled_above_is_cancelled_below) {
  EXPECT_TRUE(parent.mark());
  EXPECT_FALSE(parent.mark()) << "it is marked once";
  EXPECT_TRUE(child.cancelled());
  EXPECT_FALSE(child.marked());
  EXPECT_FALSE(root.cancelled());
  EXPECT_FALSE(sibling.cancelled());
}

TEST_F(cancel_nodes, a_member_counts_at_all_nodes_above) {
  child.begin_member();
  EXPECT_TRUE(child.has_members());
  EXPECT_TRUE(parent.has_members());
  EXPECT_TRUE(root.has_members());
  EXPECT_FALSE(sibling.has_members());
  EXPECT_EQ(child.end_member(), nullptr) << "no fiber waits";
  EXPECT_FALSE(child.has_members());
  EXPECT_FALSE(root.has_members());
}

TEST_F(cancel_nodes, nobody_waits_where_there_is_no_member) {
  fiber waiting;
  EXPECT_FALSE(root.join_members(&waiting));
  sibling.begin_member();
  EXPECT_FALSE(parent.join_members(&waiting)) << "the member is another node's";
  EXPECT_TRUE(root.join_members(&waiting));
  EXPECT_EQ(sibling.end_member(), &waiting);
}

TEST_F(cancel_nodes, the_last_member_ends_the_waits_at_each_node_that_it_leaves_empty) {
  fiber at_child;
  fiber first_at_parent;
  fiber second_at_parent;
  fiber at_root;
  child.begin_member();
  child.begin_member();
  sibling.begin_member();
  EXPECT_TRUE(child.join_members(&at_child));
  EXPECT_TRUE(parent.join_members(&first_at_parent));
  EXPECT_TRUE(parent.join_members(&second_at_parent));
  EXPECT_TRUE(root.join_members(&at_root));
  EXPECT_EQ(child.end_member(), nullptr) << "a member is left";
  EXPECT_EQ(child.end_member(), &at_child);
  EXPECT_EQ(at_child.next_waiting, &first_at_parent);
  EXPECT_EQ(first_at_parent.next_waiting, &second_at_parent);
  EXPECT_EQ(second_at_parent.next_waiting, nullptr) << "at the root one is left";
  EXPECT_EQ(sibling.end_member(), &at_root);
  EXPECT_EQ(at_root.next_waiting, nullptr);
}

} // namespace
} // namespace nopal_test
