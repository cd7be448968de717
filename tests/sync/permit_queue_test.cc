// SPDX-License-Identifier: MIT
// The state of a mutex, step by step.
#include "nopal/sync/permit_queue.h"

#include "waiter.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

struct mutex_steps : testing::Test {
  nopal::sync::permit_queue<waiter> mutex;
  waiter a, b, c;

  void hold_and_let_wait(const waiters& those) {
    ASSERT_TRUE(mutex.try_hold());
    for (waiter* each : those)
      ASSERT_TRUE(mutex.join(each));
  }
};

TEST_F(mutex_steps, one_holds_it_at_a_time) {
  EXPECT_TRUE(mutex.try_hold());
  EXPECT_FALSE(mutex.try_hold());
  EXPECT_TRUE(mutex.try_free());
  EXPECT_TRUE(mutex.try_hold());
}

TEST_F(mutex_steps, a_fiber_that_comes_too_late_to_wait_holds_it) {
  EXPECT_FALSE(mutex.join(&a));
  EXPECT_FALSE(mutex.try_hold());
  EXPECT_TRUE(mutex.try_free());
}

TEST_F(mutex_steps, is_passed_on_in_the_order_of_waiting) {
  hold_and_let_wait({&a, &b});
  EXPECT_FALSE(mutex.try_free());
  EXPECT_EQ(mutex.pass().to, &a);
  EXPECT_FALSE(mutex.try_hold()); // a has it
  EXPECT_FALSE(mutex.try_free()); // b waits
  EXPECT_EQ(mutex.pass().to, &b);
  EXPECT_TRUE(mutex.try_free()); // nobody waits
}

TEST_F(mutex_steps, nobody_passes_on_what_nobody_holds) {
  EXPECT_FALSE(mutex.try_free());
  EXPECT_FALSE(mutex.pass().was_held);
}

TEST_F(mutex_steps, a_cancelled_fiber_does_not_get_it) {
  hold_and_let_wait({&a, &b});
  a.cancel();
  const auto passed = mutex.pass();
  EXPECT_TRUE(passed.was_held);
  EXPECT_EQ(passed.to, &b);
  mutex.leave(&a);
  EXPECT_TRUE(mutex.try_free());
}

TEST_F(mutex_steps, is_free_if_all_that_wait_are_cancelled) {
  hold_and_let_wait({&a});
  a.cancel();
  const auto passed = mutex.pass();
  EXPECT_TRUE(passed.was_held);
  EXPECT_EQ(passed.to, nullptr);
  EXPECT_TRUE(mutex.try_hold());
  mutex.leave(&a); // after the mutex was freed and held anew
  EXPECT_TRUE(mutex.try_free());
}

TEST_F(mutex_steps, the_last_to_leave_lets_the_holder_free_it) {
  hold_and_let_wait({&a, &b, &c});
  mutex.leave(&b);
  EXPECT_FALSE(mutex.try_free());
  mutex.leave(&a);
  EXPECT_FALSE(mutex.try_free());
  mutex.leave(&c);
  EXPECT_TRUE(mutex.try_free());
}

} // namespace
} // namespace nopal_test
