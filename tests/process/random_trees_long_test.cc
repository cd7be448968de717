// SPDX-License-Identifier: MIT
// Ten thousand random programs on several processes.
#include "tests/process/random_trees.h"

namespace nopal_test {
namespace {

TEST(random_trees_long, come_to_what_they_do_one_by_one) {
  for (std::uint64_t first = 10'000; first < 20'000; first += 100) {
    const auto processes = static_cast<unsigned>(2 + first / 100 % 7);
    EXPECT_EQ(wrong_seeds({.processes = processes, .seed = first}, first, 100), "");
  }
}

} // namespace
} // namespace nopal_test
