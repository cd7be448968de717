// SPDX-License-Identifier: MIT
// A hundred deaths at random points.
#include "tests/process/deaths.h"

namespace nopal_test {
namespace {

TEST(death_long, of_any_process_ends_the_others) {
  for (std::uint64_t seed = 100; seed < 200; ++seed)
    a_process_dies(seed);
}

TEST(death, at_any_moment_from_the_first_leaves_nobody_behind) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    a_process_is_killed_early(seed);
}

} // namespace
} // namespace nopal_test
