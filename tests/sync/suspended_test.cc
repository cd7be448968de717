// SPDX-License-Identifier: MIT
// The list of suspended workers, with deques whose answers a test sets.
#include "nopal/sync/suspended.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::deque::outcome;

struct taken_fork {};

struct told_deque {
  outcome next = outcome::empty;
  bool more = false;

  void publish_for_absent_owner() noexcept {}
  outcome steal(const int*, taken_fork&) noexcept { return next; }
  bool has_work(const int*) noexcept { return more; }
};

struct told_worker {
  told_deque deque;
  int* group = nullptr;
  told_worker* next = nullptr;
};

struct suspended : testing::Test {
  nopal::sync::suspended_workers<told_worker> list;
  told_worker one;
  told_worker two;
  told_worker* victim = nullptr;
  int group = 0;

  bool steal(int* wanted = nullptr) {
    taken_fork taken;
    return list.steal(wanted, taken, [this](told_worker* from) { victim = from; });
  }
};

TEST_F(suspended, a_worker_with_more_stays_though_another_thief_was_faster) {
  one.deque = {outcome::lost, true};
  list.add(&one);
  EXPECT_FALSE(steal());
  EXPECT_TRUE(list.has_work(static_cast<int*>(nullptr)));
  one.deque = {outcome::empty, true}; // what is public was taken, what is private was not
  EXPECT_FALSE(steal());
  EXPECT_TRUE(list.has_work(static_cast<int*>(nullptr)));
}

TEST_F(suspended, a_worker_with_nothing_open_leaves_the_list) {
  list.add(&one);
  EXPECT_FALSE(steal());
  EXPECT_TRUE(list.empty());
  list.remove(&one); // its strand resumes all the same
  EXPECT_TRUE(list.empty());
}

TEST_F(suspended, each_group_gets_its_own) {
  one.deque = two.deque = {outcome::got, true};
  two.group = &group;
  list.add(&two);
  list.add(&one);
  EXPECT_TRUE(steal(&group));
  EXPECT_EQ(victim, &two);
  list.remove(&two);
  EXPECT_FALSE(steal(&group));
  EXPECT_TRUE(steal());
  EXPECT_EQ(victim, &one);
}

} // namespace
} // namespace nopal_test
