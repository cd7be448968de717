// SPDX-License-Identifier: MIT
// A million fibers at once, without guards.
#include "tests/api/many_fibers.h"

namespace {

struct start {
  start() { nopal::configure({.num_workers = 2, .fiber_guards = false}); }
} const this_program;

} // namespace

namespace nopal_test {

TEST(many_fibers, a_million) {
  if (most_fibers(1000000) != 1000000)
    GTEST_SKIP() << "a sanitizer keeps more about a stack than there is on it";
  const crowd seen = run_crowd(1000000);
  EXPECT_EQ(seen.finished, 1000000u);
  EXPECT_LE(seen.bytes_each, std::size_t{12} << 10);
  std::printf("a million fibers, %zu bytes each\n", seen.bytes_each);
}

} // namespace nopal_test
