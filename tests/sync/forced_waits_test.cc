// SPDX-License-Identifier: MIT
// The share of forks that wait for a thief.
#include "nopal/sync/forced_waits.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::sync::forced_waits;

// How many forks do not wait before one does.
std::uint32_t left_out(forced_waits& waits) {
  std::uint32_t count = 0;
  while (!waits.begin())
    ++count;
  return count;
}

TEST(forced_waits, all_forks_wait_while_thieves_come_soon) {
  forced_waits waits;
  for (int fork = 0; fork < 100; ++fork) {
    EXPECT_TRUE(waits.begin());
    waits.waited(false);
  }
}

TEST(forced_waits, fewer_wait_each_time_that_one_takes_too_long) {
  forced_waits waits;
  for (const std::uint32_t expected : {0u, 1u, 3u, 7u, 15u, 31u, 63u, 127u, 255u, 255u}) {
    EXPECT_EQ(left_out(waits), expected);
    waits.waited(true);
  }
}

TEST(forced_waits, more_wait_again_once_thieves_come_soon) {
  forced_waits waits;
  for (int time = 0; time < 20; ++time)
    waits.waited(true);
  for (const std::uint32_t expected : {255u, 127u, 63u, 31u, 15u, 7u, 3u, 1u, 0u, 0u}) {
    EXPECT_EQ(left_out(waits), expected);
    waits.waited(false);
  }
}

} // namespace
} // namespace nopal_test
