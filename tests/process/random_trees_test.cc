// SPDX-License-Identifier: MIT
// Random programs on several processes come to what they do one call after the other.
#include "tests/process/random_trees.h"

#include <set>

namespace nopal_test {
namespace {

TEST(random_trees, come_to_what_they_do_one_by_one) {
  std::uint64_t done = 0;
  for (const unsigned processes : {1u, 2u, 3u, 4u, 8u})
    for (int i = 0; i < 2; ++i, done += 20)
      EXPECT_EQ(wrong_seeds({.processes = processes, .seed = done}, done, 20), "");
  EXPECT_EQ(done, 200u);
}

TEST(random_trees, do_where_each_operation_takes_long) {
  EXPECT_EQ(wrong_seeds({.processes = 3, .latency_us = 50}, 1000, 20), "");
}

// A tree is not the same for all seeds, and not all throw.
TEST(random_trees, differ) {
  std::set<std::uint64_t> results;
  int thrown = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::uint64_t result = whole_tree<one_by_one>(seed, 5);
    results.insert(result);
    thrown += result == 1 ? 1 : 0;
  }
  EXPECT_GT(results.size(), 70u);
  EXPECT_GT(thrown, 0);
  EXPECT_LT(thrown, 50);
}

} // namespace
} // namespace nopal_test
