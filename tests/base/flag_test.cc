// SPDX-License-Identifier: MIT
// A flag is taken once, and a count says how many there are.
#include "nopal/base/flag.h"

#include "nopal/base/count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

TEST(flag, the_first_takes_it) {
  nopal::base::flag flag;
  EXPECT_FALSE(flag.taken());
  EXPECT_TRUE(flag.take());
  EXPECT_FALSE(flag.take());
  EXPECT_TRUE(flag.taken());
  flag.reset();
  EXPECT_FALSE(flag.taken());
  EXPECT_TRUE(flag.take());
}

TEST(flag, one_of_many_threads_takes_it) {
  constexpr int kFlags = 1000;
  std::vector<nopal::base::flag> flags(kFlags);
  std::atomic<int> taken{0};
  const auto take_all = [&] {
    for (nopal::base::flag& each : flags)
      taken += each.take() ? 1 : 0;
  };
  std::thread first{take_all};
  std::thread second{take_all};
  first.join();
  second.join();
  EXPECT_EQ(taken, kFlags);
}

TEST(count, says_how_many_there_are) {
  nopal::base::count count;
  EXPECT_FALSE(count.any());
  count.add();
  count.add(3);
  count.subtract();
  EXPECT_EQ(count.number(), 3u);
  count.subtract(3);
  EXPECT_FALSE(count.any());
}

} // namespace
} // namespace nopal_test
