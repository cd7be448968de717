// SPDX-License-Identifier: MIT
// A hundred deaths at random points.
#include "tests/process/deaths.h"

namespace nopal_test {
namespace {

TEST(death_long, of_any_process_ends_the_others) {
  for (std::uint64_t seed = 100; seed < 200; ++seed)
    a_process_dies(seed);
}

} // namespace
} // namespace nopal_test
