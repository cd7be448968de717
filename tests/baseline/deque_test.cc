// SPDX-License-Identifier: MIT
// What the deques of bench/baseline promise, step by step on one thread.
#include "tests/baseline/classic_deques.h"

#include "tests/deque/deque_cases.h"

namespace nopal_test {

TYPED_TEST(deques, thieves_take_the_oldest_and_the_owner_keeps_the_newest) {
  opened<TypeParam> setup;
  for (std::size_t depth = 0; depth < 5; ++depth)
    setup.fork_unseen(depth);
  EXPECT_TRUE(setup.deque.anything_public());
  EXPECT_EQ(setup.steal(), &setup.continuations[0]);
  EXPECT_EQ(setup.steal(), &setup.continuations[1]);
  EXPECT_TRUE(setup.close(4));
  EXPECT_TRUE(setup.close(3));
  EXPECT_TRUE(setup.close(2)) << "the last one, which a thief might have taken";
  EXPECT_FALSE(setup.deque.anything_public());
  EXPECT_FALSE(setup.close(1));
  EXPECT_FALSE(setup.close(0));
  EXPECT_EQ(setup.steal(), nullptr);
}

// A request that comes while a full array grows is not lost.
TYPED_TEST(deques, a_push_that_grows_the_array_sees_a_request) {
  opened<TypeParam> setup;
  std::size_t depth = 0;
  while (depth < 4 && setup.deque.push(setup.make(depth)))
    ++depth;
  setup.deque.ask_before_sleep();
  if (depth == 4) {
    ASSERT_FALSE(setup.deque.push(setup.make(depth)));
  }
  EXPECT_EQ(setup.deque.push_anyway(frames::at(depth)), attention::requested);
  for (std::size_t i = 0; i <= depth; ++i)
    EXPECT_EQ(setup.steal(), &setup.continuations[i]);
  EXPECT_EQ(setup.steal(), nullptr);
}

TYPED_TEST(deques, a_push_that_saw_a_request_is_not_made_twice) {
  opened<TypeParam> setup;
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  setup.deque.ask_before_sleep();
  ASSERT_FALSE(setup.deque.push(setup.make(1)));
  EXPECT_EQ(setup.deque.push_anyway(frames::at(1)), attention::requested);
  EXPECT_TRUE(setup.deque.publish(frames::at(1), &setup));
  EXPECT_EQ(setup.steal(), &setup.continuations[0]);
  EXPECT_EQ(setup.steal(), &setup.continuations[1]);
  EXPECT_EQ(setup.steal(), nullptr);
  EXPECT_FALSE(setup.close(1));
  EXPECT_FALSE(setup.close(0));
}

// The place of the stolen fork still holds the frame.
TYPED_TEST(deques, a_frame_that_was_stolen_is_forked_again) {
  opened<TypeParam> setup;
  for (int round = 0; round < 3; ++round) {
    if (!setup.deque.push(setup.make(0))) // an array of two seems full from the second round on
      setup.deque.push_anyway(frames::at(0));
    ASSERT_EQ(setup.steal(), &setup.continuations[0]);
    ASSERT_FALSE(setup.close(0));
    setup.deque.adopt(frames::id, frames::top(), &setup);
    setup.deque.ask_before_sleep();
    ASSERT_FALSE(setup.deque.push(setup.make(0)));
    setup.deque.push_anyway(frames::at(0));
    ASSERT_EQ(setup.steal(), &setup.continuations[0]);
    ASSERT_EQ(setup.steal(), nullptr);
    ASSERT_FALSE(setup.close(0));
    setup.deque.adopt(frames::id, frames::top(), &setup);
  }
}

TYPED_TEST(deques, others_may_not_take_what_is_not_theirs) {
  opened<TypeParam> setup;
  int other = 0;
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  EXPECT_EQ(setup.steal(&other), nullptr);
  EXPECT_FALSE(setup.deque.has_work(&other));
  EXPECT_TRUE(setup.deque.has_work(&setup));
  EXPECT_EQ(setup.steal(&setup), &setup.continuations[0]);
  EXPECT_FALSE(setup.close(0));
}

} // namespace nopal_test
