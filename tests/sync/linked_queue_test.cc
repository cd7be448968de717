// SPDX-License-Identifier: MIT
// The queue under all wait lists.
#include "nopal/sync/linked_queue.h"

#include "waiter.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using namespace nopal::sync;

struct linked : testing::Test {
  counted_queue<waiter, by_next_waiting> queue;
  waiter a, b, c, d;

  static auto is(const waiter* wanted) {
    return [wanted](const waiter* at) { return at == wanted; };
  }
  waiters take_each() {
    waiters all;
    while (waiter* const first = queue.take())
      all.push_back(first);
    return all;
  }
};

TEST_F(linked, first_in_first_out) {
  EXPECT_EQ(queue.take(), nullptr);
  queue.append(&a);
  queue.append(&b);
  queue.append(&c);
  EXPECT_EQ(queue.count(), 3u);
  EXPECT_EQ(take_each(), (waiters{&a, &b, &c}));
  EXPECT_EQ(queue.count(), 0u);
  EXPECT_TRUE(queue.empty());
}

TEST_F(linked, a_prepended_member_comes_first) {
  queue.prepend(&b); // into an empty queue: it is the last, too
  queue.append(&c);
  queue.prepend(&a);
  EXPECT_EQ(queue.count(), 3u);
  EXPECT_EQ(take_each(), (waiters{&a, &b, &c}));
}

TEST_F(linked, the_first_is_taken_for_one_that_comes_last) {
  queue.append(&a);
  EXPECT_EQ(queue.take_for(&b), &a);
  EXPECT_EQ(queue.count(), 1u);
  queue.append(&c);
  EXPECT_EQ(queue.take_for(&d), &b);
  EXPECT_TRUE(queue.remove(&c)); // its links lead both ways
  EXPECT_FALSE(queue.remove(&b));
  EXPECT_EQ(take_each(), (waiters{&d}));
}

TEST_F(linked, a_member_that_is_known_leaves_from_anywhere_and_once) {
  waiter* const all[] = {&a, &b, &c, &d};
  for (const unsigned left : {0u, 1u, 2u, 3u}) {
    for (waiter* each : all)
      queue.append(each);
    EXPECT_TRUE(queue.remove(all[left]));
    EXPECT_FALSE(queue.remove(all[left]));
    EXPECT_EQ(queue.count(), 3u);
    waiters others;
    for (waiter* each : all)
      if (each != all[left])
        others.push_back(each);
    EXPECT_EQ(take_each(), others);
  }
}

TEST_F(linked, a_member_is_not_removed_once_it_was_taken) {
  for (waiter* each : {&a, &b, &c, &d})
    queue.append(each);
  EXPECT_EQ(queue.take(is(&b)), &b);
  EXPECT_FALSE(queue.remove(&b));
  const waiter* const first = queue.take_all([this](const waiter* at) { return at != &c; });
  EXPECT_EQ(first, &a);
  for (waiter* each : {&a, &d})
    EXPECT_FALSE(queue.remove(each));
  queue.prepend(&a);
  EXPECT_TRUE(queue.remove(&c));
  EXPECT_EQ(take_each(), (waiters{&a}));
}

TEST_F(linked, a_member_leaves_from_the_middle_and_from_the_end) {
  for (waiter* each : {&a, &b, &c})
    queue.append(each);
  EXPECT_EQ(queue.take(is(&b)), &b);
  EXPECT_EQ(queue.take(is(&b)), nullptr);
  EXPECT_EQ(queue.take(is(&c)), &c);
  queue.append(&d); // behind the one that is left
  EXPECT_EQ(take_each(), (waiters{&a, &d}));
}

TEST_F(linked, after_the_only_member_has_left_another_one_is_the_first) {
  queue.append(&a);
  EXPECT_EQ(queue.take(is(&a)), &a);
  queue.append(&b);
  EXPECT_EQ(queue.first(), &b);
  EXPECT_EQ(queue.last(), &b);
}

TEST_F(linked, all_that_are_wanted_are_taken_in_order_and_the_others_stay) {
  for (waiter* each : {&a, &b, &c, &d})
    queue.append(each);
  const auto wanted = [this](const waiter* at) { return at == &b || at == &d; };
  EXPECT_EQ(all_from(queue.take_all(wanted)), (waiters{&b, &d}));
  EXPECT_EQ(queue.count(), 2u);
  queue.append(&b); // the last one is known again
  EXPECT_EQ(take_each(), (waiters{&a, &c, &b}));
}

TEST_F(linked, holds_asks_each_until_one_says_yes) {
  EXPECT_FALSE(queue.holds(any_member{}));
  queue.append(&a);
  queue.append(&b);
  EXPECT_TRUE(queue.holds(is(&b)));
  EXPECT_FALSE(queue.holds(is(&c)));
}

TEST_F(linked, a_cancelled_fiber_is_passed_over) {
  queue.append(&a);
  queue.append(&b);
  a.cancel();
  EXPECT_EQ(queue.take(claimable{}), &b);
  EXPECT_EQ(queue.first(), &a); // it removes itself
  EXPECT_EQ(queue.take(claimable{}), nullptr);
}

} // namespace
} // namespace nopal_test
