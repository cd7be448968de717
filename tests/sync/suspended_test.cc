// SPDX-License-Identifier: MIT
// The list of suspended workers, with deques whose answers a test sets.
#include "nopal/sync/suspended.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::deque::outcome;

struct taken_fork {
  const void* from = nullptr;
};

struct scripted_deque {
  outcome next = outcome::empty;
  bool more = false;

  void publish_for_absent_owner() noexcept {}
  outcome steal(const int*, taken_fork& taken) noexcept {
    taken.from = this;
    return next;
  }
  bool has_work(const int*) noexcept { return more; }
};

struct scripted_worker {
  scripted_deque deque;
  int* group = nullptr;
  scripted_worker* next = nullptr;
  scripted_worker* before = nullptr;
};

struct suspended : testing::Test {
  nopal::sync::suspended_workers<scripted_worker> list;
  scripted_worker first;
  scripted_worker second;
  int group = 0;

  taken_fork taken;

  bool steal(int* wanted = nullptr) { return list.steal(wanted, taken); }
};

TEST_F(suspended, a_worker_with_more_stays_though_another_thief_was_faster) {
  first.deque = {outcome::lost, true};
  list.add(&first);
  EXPECT_FALSE(steal());
  EXPECT_TRUE(list.has_work(static_cast<int*>(nullptr)));
  first.deque = {outcome::empty, true}; // what is public was taken, what is private was not
  EXPECT_FALSE(steal());
  EXPECT_TRUE(list.has_work(static_cast<int*>(nullptr)));
}

TEST_F(suspended, a_worker_with_nothing_open_leaves_the_list) {
  list.add(&first);
  EXPECT_FALSE(steal());
  EXPECT_TRUE(list.empty());
  list.remove(&first); // its strand resumes all the same
  EXPECT_TRUE(list.empty());
}

TEST_F(suspended, each_group_gets_its_own) {
  first.deque = second.deque = {outcome::got, true};
  second.group = &group;
  list.add(&second);
  list.add(&first);
  EXPECT_TRUE(steal(&group));
  EXPECT_EQ(taken.from, &second.deque);
  list.remove(&second);
  EXPECT_FALSE(steal(&group));
  EXPECT_TRUE(steal());
  EXPECT_EQ(taken.from, &first.deque);
}

} // namespace
} // namespace nopal_test
