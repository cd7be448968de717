// SPDX-License-Identifier: MIT
// Parking: each announced sleep ends by a wake-up or by the sleeper's own cancel, and the count of
// sleepers is right at rest.
#include "nopal/sync/parking.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using nopal::sync::idle_count;
using nopal::sync::parking_place;

constexpr auto for_ever = [] { return std::numeric_limits<std::int64_t>::max(); };

TEST(parking, a_thread_that_is_awake_is_not_woken) {
  idle_count count;
  parking_place place;
  EXPECT_FALSE(place.wake(count));
  EXPECT_FALSE(count.wants_wake());
}

TEST(parking, announced_counts_until_cancelled) {
  idle_count count;
  parking_place place;
  place.announce(count);
  EXPECT_EQ(count.asleep.load(), 1u);
  EXPECT_TRUE(count.wants_wake());
  place.cancel(count);
  EXPECT_EQ(count.asleep.load(), 0u);
  EXPECT_FALSE(place.wake(count));
}

TEST(parking, is_woken_once) {
  idle_count count;
  parking_place place;
  place.announce(count);
  EXPECT_TRUE(place.wake(count));
  EXPECT_FALSE(place.wake(count));
  EXPECT_EQ(count.asleep.load(), 0u);
  place.wait(count, for_ever); // returns at once
  EXPECT_FALSE(place.wake(count));
}

TEST(parking, a_cancel_that_comes_late_leaves_the_count_right) {
  idle_count count;
  parking_place place;
  place.announce(count);
  EXPECT_TRUE(place.wake(count));
  place.cancel(count);
  EXPECT_EQ(count.asleep.load(), 0u);
  place.announce(count);
  EXPECT_EQ(count.asleep.load(), 1u);
  place.cancel(count);
}

TEST(parking, nobody_is_wanted_while_somebody_searches) {
  idle_count count;
  parking_place place;
  place.announce(count);
  count.searching.fetch_add(1);
  EXPECT_FALSE(count.wants_wake());
  count.searching.fetch_sub(1);
  EXPECT_TRUE(count.wants_wake());
  place.cancel(count);
}

TEST(parking, one_that_waits_counts_until_it_is_woken) {
  idle_count count;
  parking_place place;
  place.announce(count);
  const auto before = count.waiting.look();
  EXPECT_EQ(before.number(), 0u);
  bool counted = false;
  place.wait(count, [&] { // is woken while it waits
    counted = count.waiting.look().number() == 1;
    EXPECT_TRUE(place.wake(count));
    return std::numeric_limits<std::int64_t>::max();
  });
  EXPECT_TRUE(counted);
  EXPECT_EQ(count.waiting.look().number(), 0u);
  EXPECT_NE(count.waiting.look(), before) << "that one was woken does not show";
}

// A sleeper looks for tickets, announces, looks again, and sleeps; publishers leave a ticket and
// then look for a sleeper. Were a wake-up lost, the last tickets would never be taken.
TEST(parking, no_wake_up_is_lost) {
  constexpr int kTickets = 200'000;
  constexpr int kPublishers = 2;
  idle_count count;
  parking_place place;
  std::atomic<int> tickets{0};
  int taken = 0;
  std::thread sleeper([&] {
    const auto take = [&] { taken += tickets.exchange(0, std::memory_order_acq_rel); };
    while (taken < kTickets * kPublishers) {
      take();
      if (taken == kTickets * kPublishers)
        break;
      place.announce(count);
      if (tickets.load(std::memory_order_relaxed) != 0)
        place.cancel(count);
      else
        place.wait(count, for_ever);
    }
  });
  std::vector<std::thread> publishers;
  for (int i = 0; i < kPublishers; ++i)
    publishers.emplace_back([&] {
      for (int k = 0; k < kTickets; ++k) {
        tickets.fetch_add(1, std::memory_order_relaxed);
        if (count.wants_wake())
          place.wake(count);
      }
    });
  for (std::thread& publisher : publishers)
    publisher.join();
  sleeper.join();
  EXPECT_EQ(taken, kTickets * kPublishers);
  EXPECT_EQ(count.asleep.load(), 0u);
  EXPECT_EQ(count.waiting.look().number(), 0u);
}

} // namespace
} // namespace nopal_test
