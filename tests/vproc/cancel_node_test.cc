// SPDX-License-Identifier: MIT
// A fiber that is a member of a node counts there and at all nodes above; its end makes ready the
// fibers that wait for the last member.
#include "nopal/vproc/cancel_node.h"

#include <gtest/gtest.h>

#include <exception>

namespace nopal_test {
namespace {

using nopal::vproc::cancel_node;
using nopal::vproc::fiber;
using nopal::vproc::joint;

// The first of the fibers that wait for what this was.
fiber* end_member(cancel_node& left) {
  fiber* first = nullptr;
  left.end_member([&first](fiber* list) { first = list != nullptr ? list : first; });
  return first;
}

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
  EXPECT_EQ(end_member(child), nullptr) << "no fiber waits";
  EXPECT_FALSE(child.has_members());
  EXPECT_FALSE(root.has_members());
}

TEST_F(cancel_nodes, nobody_waits_where_there_is_no_member) {
  fiber waiting;
  EXPECT_FALSE(root.join_members(&waiting));
  sibling.begin_member();
  EXPECT_FALSE(parent.join_members(&waiting)) << "the member is another node's";
  EXPECT_TRUE(root.join_members(&waiting));
  EXPECT_EQ(end_member(sibling), &waiting);
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
  EXPECT_EQ(end_member(child), nullptr) << "a member is left";
  EXPECT_EQ(end_member(child), &at_child);
  EXPECT_EQ(at_child.next_waiting, &first_at_parent);
  EXPECT_EQ(first_at_parent.next_waiting, &second_at_parent);
  EXPECT_EQ(second_at_parent.next_waiting, nullptr) << "at the root one is left";
  EXPECT_EQ(end_member(sibling), &at_root);
  EXPECT_EQ(at_root.next_waiting, nullptr);
}

// A fiber of `child` and `sibling`, and what is made below both.
struct joints : cancel_nodes {
  joint* const both = new joint{&child, &sibling};
  joints() { both->begin_member(); }
};

TEST_F(joints, are_below_both) {
  cancel_node below{both};
  EXPECT_TRUE(below.is_or_is_below(both));
  EXPECT_TRUE(below.is_or_is_below(&child));
  EXPECT_TRUE(below.is_or_is_below(&sibling));
  EXPECT_TRUE(below.is_or_is_below(&parent));
  EXPECT_FALSE(child.is_or_is_below(both));
  end_member(*both);
}

TEST_F(joints, are_cancelled_by_either) {
  cancel_node below{both};
  EXPECT_FALSE(below.cancelled());
  EXPECT_EQ(below.reason(), nullptr);
  EXPECT_TRUE(sibling.mark(std::make_exception_ptr(7)));
  EXPECT_TRUE(below.cancelled());
  EXPECT_NE(below.reason(), nullptr);
  EXPECT_FALSE(child.cancelled());
  end_member(*both);
}

TEST_F(joints, count_at_both) {
  fiber at_child;
  fiber at_sibling;
  EXPECT_TRUE(child.join_members(&at_child));
  EXPECT_TRUE(sibling.join_members(&at_sibling));
  both->begin_member();
  EXPECT_EQ(end_member(*both), nullptr);
  fiber* ready[2] = {};
  int number = 0;
  both->end_member([&](fiber* list) {
    if (list != nullptr)
      ready[number++] = list;
  });
  EXPECT_EQ(ready[0], &at_child);
  EXPECT_EQ(ready[1], &at_sibling);
  EXPECT_FALSE(root.has_members());
}

TEST_F(joints, live_as_long_as_a_node_below) {
  cancel_node below{both};
  end_member(*both);
  EXPECT_FALSE(child.has_members());
  below.begin_member();
  EXPECT_TRUE(child.has_members());
  EXPECT_TRUE(sibling.has_members());
  end_member(below);
  EXPECT_FALSE(root.has_members());
}

} // namespace
} // namespace nopal_test
