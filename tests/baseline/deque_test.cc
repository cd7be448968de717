// SPDX-License-Identifier: MIT
// What the deques of bench/baseline promise, step by step on one thread.
#include "tests/baseline/classic_deques.h"

#include "tests/deque/deque_cases.h"

namespace nopal_test {

TYPED_TEST(deques, thieves_take_the_oldest_and_the_owner_keeps_the_newest) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 5; ++depth)
    with.fork_unseen(depth);
  EXPECT_TRUE(with.deque.anything_public());
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_EQ(with.steal(), &with.continuations[1]);
  EXPECT_TRUE(with.close(4));
  EXPECT_TRUE(with.close(3));
  EXPECT_TRUE(with.close(2)) << "the last one, which a thief might have taken";
  EXPECT_FALSE(with.deque.anything_public());
  EXPECT_FALSE(with.close(1));
  EXPECT_FALSE(with.close(0));
  EXPECT_EQ(with.steal(), nullptr);
}

// Who asks while a full array grows is not forgotten.
TYPED_TEST(deques, a_push_that_grows_the_array_sees_a_request) {
  opened<TypeParam> with;
  std::size_t depth = 0;
  while (depth < 4 && with.deque.push(with.make(depth)))
    ++depth;
  with.deque.ask_before_sleep();
  if (depth == 4) {
    ASSERT_FALSE(with.deque.push(with.make(depth)));
  }
  EXPECT_EQ(with.deque.push_anyway(frames::at(depth)), attention::requested);
  for (std::size_t i = 0; i <= depth; ++i)
    EXPECT_EQ(with.steal(), &with.continuations[i]);
  EXPECT_EQ(with.steal(), nullptr);
}

TYPED_TEST(deques, a_push_that_saw_a_request_is_not_made_twice) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  with.deque.ask_before_sleep();
  ASSERT_FALSE(with.deque.push(with.make(1)));
  EXPECT_EQ(with.deque.push_anyway(frames::at(1)), attention::requested);
  EXPECT_TRUE(with.deque.publish(frames::at(1), &with));
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_EQ(with.steal(), &with.continuations[1]);
  EXPECT_EQ(with.steal(), nullptr);
  EXPECT_FALSE(with.close(1));
  EXPECT_FALSE(with.close(0));
}

// The place of the stolen fork still holds the frame.
TYPED_TEST(deques, a_frame_that_was_stolen_is_forked_again) {
  opened<TypeParam> with;
  for (int round = 0; round < 3; ++round) {
    if (!with.deque.push(with.make(0))) // an array of two seems full from the second round on
      with.deque.push_anyway(frames::at(0));
    ASSERT_EQ(with.steal(), &with.continuations[0]);
    ASSERT_FALSE(with.close(0));
    with.deque.adopt(frames::id, frames::top(), &with);
    with.deque.ask_before_sleep();
    ASSERT_FALSE(with.deque.push(with.make(0)));
    with.deque.push_anyway(frames::at(0));
    ASSERT_EQ(with.steal(), &with.continuations[0]);
    ASSERT_EQ(with.steal(), nullptr);
    ASSERT_FALSE(with.close(0));
    with.deque.adopt(frames::id, frames::top(), &with);
  }
}

TYPED_TEST(deques, others_may_not_take_what_is_not_theirs) {
  opened<TypeParam> with;
  int other = 0;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  EXPECT_EQ(with.steal(&other), nullptr);
  EXPECT_FALSE(with.deque.has_work(&other));
  EXPECT_TRUE(with.deque.has_work(&with));
  EXPECT_EQ(with.steal(&with), &with.continuations[0]);
  EXPECT_FALSE(with.close(0));
}

} // namespace nopal_test
