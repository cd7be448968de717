// SPDX-License-Identifier: MIT
// Which sleeper is woken for what was published, and which are not.
#include "nopal/vproc/wake.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::vproc::announce_ready;
using nopal::vproc::announce_work;
using nopal::vproc::idle;

nopal::vproc::vproc* make_pool_vproc() { return nopal::vproc::add_pool_vproc(); }

struct wake : testing::Test {
  static void SetUpTestSuite() {
    first_pooled = make_pool_vproc();
    second_pooled = make_pool_vproc();
  }
  void TearDown() override { EXPECT_EQ(idle.asleep.load(), 0u); }

  std::uint64_t wakeups() const { return own->count.wakeups.get() - wakeups_before; }

  static inline nopal::vproc::vproc* first_pooled = nullptr;
  static inline nopal::vproc::vproc* second_pooled = nullptr;
  nopal::vproc::group group;
  own_vproc own;
  const std::uint64_t wakeups_before = own->count.wakeups.get();
};

TEST_F(wake, nobody_is_woken_where_nobody_sleeps) {
  announce_work(own.worker(), &group);
  EXPECT_FALSE(nopal::vproc::wake_pool_thread(own.worker()));
  EXPECT_EQ(wakeups(), 0u);
}

TEST_F(wake, the_groups_thread_comes_before_the_pools) {
  sleeper waiting{group.parking};
  sleeper pooled{first_pooled->parking};
  announce_work(own.worker(), &group);
  EXPECT_FALSE(pooled.was_woken());
  EXPECT_TRUE(waiting.was_woken());
  EXPECT_EQ(wakeups(), 1u);
}

TEST_F(wake, one_thread_of_the_pool_is_woken) {
  sleeper first{first_pooled->parking};
  sleeper second{second_pooled->parking};
  announce_work(own.worker(), &group);
  EXPECT_EQ(idle.asleep.load(), 1u);
  EXPECT_EQ(wakeups(), 1u);
  announce_work(own.worker(), &group);
  EXPECT_TRUE(first.was_woken());
  EXPECT_TRUE(second.was_woken());
  EXPECT_EQ(wakeups(), 2u);
}

TEST_F(wake, no_thread_of_the_pool_is_woken_while_one_searches) {
  sleeper pooled{first_pooled->parking};
  idle.searching.fetch_add(1);
  announce_work(own.worker(), &group);
  announce_ready(own.worker(), &group);
  idle.searching.fetch_sub(1);
  EXPECT_FALSE(pooled.was_woken());
  EXPECT_EQ(wakeups(), 0u);
}

// The one that searches may take no strand of this group.
TEST_F(wake, the_groups_thread_is_woken_also_while_one_searches) {
  sleeper waiting{group.parking};
  idle.searching.fetch_add(1);
  announce_work(own.worker(), &group);
  idle.searching.fetch_sub(1);
  EXPECT_TRUE(waiting.was_woken());
}

TEST_F(wake, a_thread_without_strands_wakes_and_does_not_count) {
  sleeper pooled{first_pooled->parking};
  announce_work(nullptr, &group);
  EXPECT_TRUE(pooled.was_woken());
  EXPECT_EQ(wakeups(), 0u);
}

TEST_F(wake, a_ready_fiber_wakes_where_nobody_searches) {
  sleeper pooled{first_pooled->parking};
  announce_ready(own.worker(), &group);
  EXPECT_TRUE(pooled.was_woken());
}

TEST_F(wake, a_sleeper_is_woken_at_its_place_and_counted_once) {
  sleeper waiting{group.parking};
  nopal::vproc::wake(own.worker(), group.parking);
  nopal::vproc::wake(own.worker(), group.parking);
  EXPECT_TRUE(waiting.was_woken());
  EXPECT_EQ(wakeups(), 1u);
}

TEST_F(wake, a_vproc_is_woken_where_its_thread_sleeps) {
  const idle_vproc target;
  {
    sleeper unbound{target->parking};
    nopal::vproc::wake_vproc(own.worker(), target.get(), nullptr);
    EXPECT_TRUE(unbound.was_woken());
  }
  EXPECT_EQ(wakeups(), 1u);
  {
    sleeper waiting{group.parking};
    nopal::vproc::wake_vproc(own.worker(), target.get(), &group);
    EXPECT_TRUE(waiting.was_woken());
  }
  EXPECT_EQ(wakeups(), 2u);
  nopal::vproc::wake_vproc(own.worker(), target.get(), &group);
  EXPECT_EQ(wakeups(), 2u);
}

TEST_F(wake, the_whole_pool_is_woken) {
  sleeper first{first_pooled->parking};
  sleeper second{second_pooled->parking};
  const idle_vproc external;
  sleeper elsewhere{external->parking};
  nopal::vproc::wake_pool();
  EXPECT_TRUE(first.was_woken());
  EXPECT_TRUE(second.was_woken());
  EXPECT_FALSE(elsewhere.was_woken());
}

} // namespace
} // namespace nopal_test
