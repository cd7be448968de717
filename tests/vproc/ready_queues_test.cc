// SPDX-License-Identifier: MIT
// Which ready fiber a vproc takes, and which a thief may take from it.
#include "nopal/vproc/ready_queues.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::vproc::any_ready;
using nopal::vproc::shared_ready;
using nopal::vproc::take_ready;

struct ready_queues : testing::Test {
  nopal::vproc::group group;
  nopal::vproc::group other_group;
  idle_vproc taker;
  idle_vproc thief;

  void TearDown() override { EXPECT_TRUE(shared_ready.empty()); }

  nopal::vproc::fiber* steal(nopal::vproc::ready_seen& seen) {
    return nopal::vproc::steal_ready(thief.get(), seen);
  }
  // The victim has not turned to its fibers between this thief's two looks.
  nopal::vproc::fiber* steal_at_second_look() {
    nopal::vproc::ready_seen seen;
    EXPECT_EQ(steal(seen), nullptr);
    return steal(seen);
  }
};

TEST_F(ready_queues, each_queue_comes_first_at_its_turns) {
  constexpr int kTurns = 192; // three rounds of 64
  int firsts[3] = {};
  for (int i = 0; i < kTurns; ++i) {
    fiber_of_group remote{group};
    fiber_of_group own{group};
    fiber_of_group shared{group};
    taker->remote.add(&remote);
    taker->ready.add(&own);
    shared_ready.add(&shared);
    const nopal::vproc::fiber* const first = take_ready(taker.get());
    firsts[0] += first == &remote ? 1 : 0;
    firsts[1] += first == &own ? 1 : 0;
    firsts[2] += first == &shared ? 1 : 0;
    taker->remote.take();
    taker->ready.take();
    shared_ready.take();
    ASSERT_FALSE(any_ready(taker.get()));
  }
  EXPECT_EQ(firsts[0], kTurns - 6) << "what can run nowhere else comes first";
  EXPECT_EQ(firsts[1], 3) << "once in 64 turns";
  EXPECT_EQ(firsts[2], 3) << "once in 64 turns";
}

TEST_F(ready_queues, each_queue_is_taken_from_where_the_others_are_empty) {
  for (int i = 0; i < 64; ++i) {
    fiber_of_group fiber{group};
    taker->ready.add(&fiber);
    ASSERT_EQ(take_ready(taker.get()), &fiber);
    taker->remote.add(&fiber);
    ASSERT_EQ(take_ready(taker.get()), &fiber);
    shared_ready.add(&fiber);
    ASSERT_EQ(take_ready(taker.get()), &fiber);
    ASSERT_EQ(take_ready(taker.get()), nullptr);
  }
}

TEST_F(ready_queues, what_was_ready_first_is_taken_first) {
  fiber_of_group first{group};
  fiber_of_group second{group};
  taker->ready.add(&first);
  taker->ready.add(&second);
  EXPECT_EQ(take_ready(taker.get()), &first);
  EXPECT_EQ(take_ready(taker.get()), &second);
  shared_ready.add(&second);
  shared_ready.add(&first);
  EXPECT_EQ(take_ready(taker.get()), &second);
  EXPECT_EQ(take_ready(taker.get()), &first);
}

TEST_F(ready_queues, a_bound_vproc_takes_fibers_of_its_group_alone) {
  taker->bound.set(&group);
  fiber_of_group own{group};
  fiber_of_group foreign{other_group};
  fiber_of_group remote{other_group};
  shared_ready.add(&foreign);
  taker->remote.add(&remote);
  EXPECT_FALSE(any_ready(taker.get()));
  EXPECT_EQ(take_ready(taker.get()), nullptr);
  shared_ready.add(&own);
  EXPECT_TRUE(any_ready(taker.get()));
  EXPECT_EQ(take_ready(taker.get()), &own) << "although another is before it";
  EXPECT_EQ(taker->remote.take(), &remote);
  EXPECT_EQ(shared_ready.take(), &foreign);
}

TEST_F(ready_queues, fibers_of_a_closed_group_are_for_vprocs_bound_to_it) {
  group.closed = true;
  fiber_of_group fiber{group};
  shared_ready.add(&fiber);
  EXPECT_EQ(take_ready(taker.get()), nullptr);
  EXPECT_FALSE(any_ready(taker.get()));
  EXPECT_TRUE(nopal::vproc::any_ready_of(&group));
  EXPECT_FALSE(nopal::vproc::any_ready_of(&other_group));
  taker->bound.set(&group);
  EXPECT_EQ(take_ready(taker.get()), &fiber);
  EXPECT_FALSE(nopal::vproc::any_ready_of(&group));
}

TEST_F(ready_queues, all_three_queues_count) {
  fiber_of_group remote{group};
  fiber_of_group own{group};
  fiber_of_group shared{group};
  EXPECT_EQ(nopal::vproc::seem_ready(taker.get()), 0u);
  taker->remote.add(&remote);
  EXPECT_EQ(nopal::vproc::seem_ready(taker.get()), 1u);
  EXPECT_TRUE(any_ready(taker.get()));
  taker->ready.add(&own);
  shared_ready.add(&shared);
  EXPECT_EQ(nopal::vproc::seem_ready(taker.get()), 3u);
  EXPECT_EQ(nopal::vproc::seem_ready(thief.get()), 1u) << "the shared one alone";
  while (take_ready(taker.get()) != nullptr)
    continue;
  EXPECT_EQ(nopal::vproc::seem_ready(taker.get()), 0u);
}

TEST_F(ready_queues, a_thief_takes_what_its_owner_does_not_turn_to) {
  fiber_of_group fiber{group};
  taker->ready.add(&fiber);
  nopal::vproc::ready_seen seen;
  EXPECT_EQ(steal(seen), nullptr) << "at the first look the owner may be about to run it";
  taker->ready.begin_turn();
  EXPECT_EQ(steal(seen), nullptr) << "the owner has turned to its fibers since";
  EXPECT_EQ(steal(seen), &fiber);
  EXPECT_FALSE(any_ready(taker.get()));
}

TEST_F(ready_queues, a_look_that_finds_nothing_is_forgotten) {
  fiber_of_group fiber{group};
  taker->ready.add(&fiber);
  nopal::vproc::ready_seen seen{.any = false, .turns = taker->ready.turns()};
  EXPECT_EQ(steal(seen), nullptr) << "although the number of turns is the same";
  EXPECT_EQ(steal(seen), &fiber);
}

TEST_F(ready_queues, pinned_fibers_are_not_stolen) {
  fiber_of_group pinned{group};
  fiber_of_group free{group};
  taker->ready.add(&pinned.pinned_on(taker.get()));
  EXPECT_EQ(steal_at_second_look(), nullptr);
  taker->ready.add(&free);
  EXPECT_EQ(steal_at_second_look(), &free) << "although the pinned one is before it";
  EXPECT_EQ(take_ready(taker.get()), &pinned);
}

TEST_F(ready_queues, a_bound_thief_steals_fibers_of_its_group_alone) {
  thief->bound.set(&group);
  fiber_of_group foreign{other_group};
  fiber_of_group own{group};
  taker->ready.add(&foreign);
  EXPECT_EQ(steal_at_second_look(), nullptr);
  taker->ready.add(&own);
  EXPECT_EQ(steal_at_second_look(), &own);
  EXPECT_EQ(take_ready(taker.get()), &foreign);
}

TEST_F(ready_queues, what_others_may_not_take_is_not_stolen) {
  fiber_of_group remote{group};
  fiber_of_group own{group};
  taker->remote.add(&remote);
  thief->ready.add(&own);
  EXPECT_EQ(steal_at_second_look(), nullptr) << "remote fibers, and the thief's own";
  EXPECT_EQ(take_ready(taker.get()), &remote);
  EXPECT_EQ(take_ready(thief.get()), &own);
}

} // namespace
} // namespace nopal_test
