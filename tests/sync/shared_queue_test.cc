// SPDX-License-Identifier: MIT
// Wait lists and shared queues: which fibers are in them, and that they ask under their lock.
#include "nopal/sync/shared_queue.h"

#include "waiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace nopal_test {
namespace {

using namespace nopal::sync;

TEST(wait_list, a_fiber_joins_unless_it_need_not_wait) {
  wait_list<waiter> list;
  waiter a;
  EXPECT_FALSE(list.join(&a, [] { return true; }));
  EXPECT_TRUE(list.queue().empty());
  EXPECT_TRUE(list.join(&a, [] { return false; }));
  EXPECT_EQ(list.queue().first(), &a);
}

TEST(wait_list, the_question_is_asked_under_the_lock) {
  wait_list<waiter> list;
  waiter a;
  std::atomic<bool> locked{false};
  std::atomic<bool> went_in_between{false};
  std::thread other;
  list.join(&a, [&] {
    other = std::thread{[&] {
      locked = true;
      const nopal::base::locked guard{list.lock()};
      went_in_between = list.queue().empty();
    }};
    while (!locked)
      std::this_thread::yield();
    return false;
  });
  other.join();
  EXPECT_FALSE(went_in_between);
}

TEST(wait_list, a_fiber_that_is_not_there_may_be_removed) {
  wait_list<waiter> list;
  waiter a, b;
  list.join(&a, [] { return false; });
  list.remove(&b);
  EXPECT_EQ(list.queue().first(), &a);
  list.remove(&a);
  list.remove(&a);
  EXPECT_TRUE(list.queue().empty());
}

TEST(shared_queue, counts_what_is_added_taken_and_removed) {
  shared_queue<waiter, by_next_waiting> queue;
  waiter a, b, c;
  EXPECT_TRUE(queue.empty());
  for (waiter* each : {&a, &b, &c})
    queue.add(each);
  EXPECT_EQ(queue.count(), 3u);
  queue.remove(&b);
  EXPECT_EQ(queue.count(), 2u);
  EXPECT_EQ(queue.take(), &a);
  EXPECT_EQ(queue.take_all(), &c);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.take_all(), nullptr);
}

TEST(shared_queue, notifying_wakes_those_that_were_not_cancelled) {
  shared_queue<waiter, by_next_waiting> condition;
  waiter a, b, c, d;
  for (waiter* each : {&a, &b, &c, &d})
    condition.add(each);
  a.cancel();
  EXPECT_EQ(condition.take(claimable{}), &b);
  EXPECT_EQ(all_from(condition.take_all(claimable{})), (waiters{&c, &d}));
  EXPECT_EQ(condition.count(), 1u);
  condition.remove(&a);
  EXPECT_TRUE(condition.empty());
}

// Each of many is taken once.
TEST(shared_queue, threads_that_take_share_what_is_there) {
  constexpr int kMembers = 20'000;
  shared_queue<waiter> queue;
  std::vector<waiter> members(kMembers);
  std::atomic<int> taken{0};
  const auto take = [&] {
    while (taken < kMembers)
      if (waiter* const each = queue.take()) {
        EXPECT_TRUE(each->claim());
        ++taken;
      }
  };
  std::thread first{take};
  std::thread second{take};
  for (waiter& each : members)
    queue.add(&each);
  first.join();
  second.join();
  EXPECT_TRUE(queue.empty());
}

} // namespace
} // namespace nopal_test
