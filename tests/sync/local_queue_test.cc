// SPDX-License-Identifier: MIT
// The ready fibers of one vproc: what its thread and a thief find, and how the owner leaves one
// fiber for the next.
#include "nopal/sync/local_queue.h"

#include "waiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace nopal_test {
namespace {

constexpr auto any = [](const waiter*) { return true; };
constexpr auto none = [](const waiter*) { return false; };

struct local : testing::Test {
  nopal::sync::local_queue<waiter> queue;
  waiter a, b, c;

  void SetUp() override { queue.open(true); }
};

TEST_F(local, owner_and_thief_take_the_oldest) {
  for (waiter* each : {&a, &b, &c})
    queue.add(each);
  EXPECT_EQ(queue.count(), 3u);
  EXPECT_EQ(queue.take(), &a);
  EXPECT_EQ(queue.steal(none), nullptr);
  EXPECT_EQ(queue.steal(any), &b);
  EXPECT_EQ(queue.take(), &c);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.take(), nullptr);
  EXPECT_EQ(queue.steal(any), nullptr);
}

TEST_F(local, a_thief_takes_as_many_as_it_asks_for) {
  waiter d;
  for (waiter* each : {&a, &b, &c, &d})
    queue.add(each);
  const auto not_b = [this](const waiter* each) { return each != &b; };
  const waiter* const first = queue.steal(not_b, 2);
  ASSERT_EQ(first, &a);
  ASSERT_EQ(first->next, &c);
  EXPECT_EQ(first->next->next, nullptr);
  EXPECT_EQ(queue.count(), 2u);
  EXPECT_EQ(queue.take(), &b);
  EXPECT_EQ(queue.take(), &d);
  EXPECT_TRUE(queue.empty());
}

TEST_F(local, a_strand_is_left_for_the_next_one_and_comes_last) {
  queue.add(&a);
  queue.add(&b);
  EXPECT_EQ(queue.leave_for_next(&c, any), &a);
  queue.settle();
  EXPECT_EQ(queue.turns(), 1u);
  EXPECT_EQ(queue.take(), &b);
  EXPECT_EQ(queue.take(), &c);
}

TEST_F(local, the_only_other_fiber_is_exchanged_for_the_one_that_is_left) {
  queue.add(&a);
  EXPECT_EQ(queue.leave_for_next(&b, any), &a);
  queue.settle();
  EXPECT_EQ(queue.count(), 1u);
  EXPECT_EQ(queue.take(), &b);
}

TEST_F(local, a_strand_is_not_left_for_one_that_may_not_run) {
  EXPECT_EQ(queue.leave_for_next(&b, any), nullptr); // there is none
  queue.add(&a);
  EXPECT_EQ(queue.leave_for_next(&b, none), nullptr);
  EXPECT_EQ(queue.steal(any), &a); // the owner is not at work any more
  EXPECT_TRUE(queue.empty());
}

TEST_F(local, a_thief_waits_until_the_owner_has_settled) {
  queue.add(&a);
  ASSERT_EQ(queue.leave_for_next(&b, any), &a);
  std::atomic<bool> settled{false};
  std::thread thief{[&] {
    EXPECT_EQ(queue.steal(any), &b);
    EXPECT_TRUE(settled);
  }};
  settled = true;
  queue.settle();
  thief.join();
}

} // namespace
} // namespace nopal_test
