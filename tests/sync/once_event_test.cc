// SPDX-License-Identifier: MIT
// An event, before and after it happens.
#include "nopal/sync/once_event.h"

#include "waiter.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

TEST(once_event, all_that_wait_are_returned_in_order) {
  nopal::sync::once_event<waiter> event;
  waiter a, b;
  EXPECT_FALSE(event.happened());
  EXPECT_TRUE(event.join(&a));
  EXPECT_TRUE(event.join(&b));
  EXPECT_EQ(all_from(event.happen()), (waiters{&a, &b}));
  EXPECT_TRUE(event.happened());
}

TEST(once_event, nobody_waits_for_what_has_happened) {
  nopal::sync::once_event<waiter> event;
  waiter a;
  EXPECT_EQ(event.happen(), nullptr);
  EXPECT_FALSE(event.join(&a));
}

TEST(once_event, a_cancelled_fiber_is_not_returned) {
  nopal::sync::once_event<waiter> event;
  waiter a, b, c;
  for (waiter* each : {&a, &b, &c})
    event.join(each);
  b.cancel();
  event.leave(&c); // before it happens
  EXPECT_EQ(all_from(event.happen()), (waiters{&a}));
  event.leave(&b); // after that
}

} // namespace
} // namespace nopal_test
