// SPDX-License-Identifier: MIT
// Which runner takes which item, step by step, and which of them stands by, follows and ends.
#include "nopal/sync/standby_queue.h"

#include "item.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using namespace nopal::sync;

struct standby : testing::Test {
  using queue = standby_queue<item, 4>;
  using runner = queue::runner;
  queue items;
  item all[8];
  int begun = 0; // runners that were to be made
  bool may_look = true;
  bool awaited = false;
  bool makes = false; // what the last call has told

  auto count() {
    return [this] { ++begun; };
  }
  void add(int i) { makes = items.add(&all[i], count()); }
  queue::step take(runner& by) {
    const queue::step next = items.take(by, {8, may_look, awaited}, count());
    makes = next.makes_runner;
    return next;
  }
  // The number of the item; -1: none.
  long called(runner& by) {
    const item* const next = take(by).item;
    return next == nullptr ? -1 : next - all;
  }
  static bool told(const runner& asked) { return asked.told.load(std::memory_order_relaxed) != 0; }
};

TEST_F(standby, a_runner_takes_a_batch_and_another_stands_by) {
  runner a, b;
  for (int i = 0; i < 6; ++i) {
    add(i);
    EXPECT_EQ(makes, i == 0);
  }
  EXPECT_EQ(called(a), 0);
  EXPECT_TRUE(makes) << "items are left";
  EXPECT_EQ(called(a), 1);
  EXPECT_FALSE(makes);
  EXPECT_EQ(called(b), 3) << "one that begins takes what others keep: half of two";
  EXPECT_TRUE(makes);
  EXPECT_EQ(called(b), 4);
  EXPECT_EQ(called(a), 2);
  EXPECT_EQ(called(b), 5);
  EXPECT_EQ(begun, 3);
}

TEST_F(standby, what_an_item_adds_goes_first_and_the_standby_finds_it) {
  runner a, b, c;
  add(0);
  EXPECT_EQ(called(a), 0);
  EXPECT_FALSE(makes);
  EXPECT_TRUE(items.add_first(&all[1], &a, count()));
  EXPECT_FALSE(items.add_first(&all[2], &a, count()));
  EXPECT_EQ(called(b), 1) << "the last of them";
  EXPECT_TRUE(makes);
  EXPECT_EQ(called(c), 2);
  EXPECT_FALSE(makes) << "none is left";
  EXPECT_TRUE(take(b).item == nullptr) << "it looks";
  EXPECT_FALSE(items.add_first(&all[3], &a, count()));
  EXPECT_EQ(called(b), 3) << "a standby that looks finds it in the common queue";
}

TEST_F(standby, followers_wait_until_they_are_told) {
  runner a, b, c;
  add(0);
  EXPECT_EQ(called(a), 0);
  items.add_first(&all[1], &a, count());
  EXPECT_EQ(called(b), 1);
  items.add_first(&all[2], &a, count());
  EXPECT_EQ(called(c), 2);
  EXPECT_FALSE(take(c).follows);
  EXPECT_TRUE(take(b).follows);
  for (int i = 3; i < 5; ++i)
    add(i);
  EXPECT_FALSE(told(b));
  EXPECT_EQ(called(c), 3);
  EXPECT_FALSE(makes);
  EXPECT_TRUE(told(b)) << "there is an item for it";
  EXPECT_EQ(called(b), 4);
  EXPECT_EQ(called(a), -1);
  may_look = false;
  EXPECT_TRUE(take(a).ends);
  EXPECT_TRUE(take(b).ends);
  EXPECT_TRUE(take(c).ends);
  add(5);
  EXPECT_TRUE(makes) << "no runner is left";
  EXPECT_EQ(begun, 4);
}

TEST_F(standby, all_end_if_that_is_awaited_and_none_is_at_work) {
  runner a, b, c;
  add(0);
  EXPECT_EQ(called(a), 0);
  items.add_first(&all[1], &a, count());
  EXPECT_EQ(called(b), 1);
  items.add_first(&all[2], &a, count());
  EXPECT_EQ(called(c), 2);
  awaited = true;
  EXPECT_FALSE(take(b).ends) << "the others may add items";
  EXPECT_FALSE(take(a).ends);
  EXPECT_FALSE(told(a) || told(b));
  EXPECT_TRUE(take(c).ends);
  EXPECT_TRUE(told(a) && told(b));
  EXPECT_TRUE(take(a).ends);
  EXPECT_TRUE(take(b).ends);
}

// The common queue has items all the time.
TEST_F(standby, what_lies_behind_an_item_that_does_not_end_is_taken_by_others) {
  runner stuck, other;
  add(0);
  add(1);
  add(2);
  EXPECT_EQ(called(stuck), 0);
  add(3);
  item more[3];
  for (item& each : more)
    items.add(&each, count());
  EXPECT_EQ(called(other), 2) << "as it begins";
  int steps = 0;
  for (const item* next = nullptr; next != &all[1]; ++steps) {
    ASSERT_LT(steps, 200) << "the item starves";
    next = take(other).item;
    if (next != nullptr && next != &all[1])
      items.add(const_cast<item*>(next), count());
  }
}

TEST_F(standby, one_beyond_those_that_may_work_ends_where_another_stands_by) {
  runner a, b;
  add(0);
  add(1);
  EXPECT_EQ(called(a), 0);
  EXPECT_TRUE(makes);
  EXPECT_EQ(called(a), 1);
  add(2);
  EXPECT_TRUE(items.take(a, {1, true, false}, count()).ends);
  EXPECT_EQ(called(b), 2);
}

} // namespace
} // namespace nopal_test
