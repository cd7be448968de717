// SPDX-License-Identifier: MIT
// What is found below a node: what was placed there, and nothing else.
#include "nopal/join/descent.h"

#include <gtest/gtest.h>

#include <set>

namespace nopal_test {
namespace {

using nopal::join::ancestor;
using nopal::join::descendant;

struct leaf : descendant {
  leaf() : descendant{kind::stack} {}
  ~leaf() { remove(); }
};
struct inner_node : ancestor {
  ~inner_node() { remove(); }
};

std::multiset<const descendant*> below(ancestor& node) {
  std::multiset<const descendant*> all;
  node.for_each_below([&](const descendant* each) { all.insert(each); });
  return all;
}
using found = std::multiset<const descendant*>;

TEST(descent, finds_what_is_below_at_any_depth) {
  ancestor root;
  inner_node inner;
  leaf at_root;
  leaf at_inner;
  EXPECT_FALSE(inner.placed());
  inner.place(&root);
  EXPECT_TRUE(inner.placed());
  at_root.place(&root);
  at_inner.place(&inner);
  EXPECT_EQ(below(root), (found{&at_root, &at_inner}));
  EXPECT_EQ(below(inner), (found{&at_inner}));
}

TEST(descent, finds_nothing_of_what_stands_beside) {
  ancestor root;
  inner_node left;
  inner_node right;
  left.place(&root);
  right.place(&root);
  leaf of_right[3];
  for (leaf& each : of_right)
    each.place(&right);
  EXPECT_EQ(below(left), found{});
  EXPECT_EQ(below(right).size(), 3u);
}

TEST(descent, forgets_what_was_removed_wherever_it_stood) {
  ancestor root;
  leaf all[3];
  for (const unsigned gone : {0u, 1u, 2u}) {
    for (leaf& each : all)
      each.place(&root);
    all[gone].remove();
    EXPECT_FALSE(all[gone].placed());
    EXPECT_EQ(below(root).size(), 2u);
    EXPECT_EQ(below(root).count(&all[gone]), 0u);
    for (leaf& each : all)
      each.remove();
    EXPECT_EQ(below(root), found{});
  }
}

TEST(descent, places_once_and_below_nothing_in_no_list) {
  ancestor root;
  ancestor other;
  leaf child;
  child.place(&root);
  child.place(&root);
  EXPECT_EQ(below(root).size(), 1u);
  child.remove();
  child.place(nullptr);
  EXPECT_TRUE(child.placed());
  child.remove();
  child.place(&other);
  EXPECT_EQ(below(other), found{&child});
}

} // namespace
} // namespace nopal_test
