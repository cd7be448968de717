// SPDX-License-Identifier: MIT
// What the deque promises, step by step on one thread; the packed word and the ring below it.
#include "tests/deque/map_deque.h"

#include "tests/deque/deque_cases.h"

namespace nopal_test {

using nopal::deque::ring_word;

TYPED_TEST(deques, a_request_reaches_the_next_push_and_publishes_the_oldest) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  with.deque.ask();
  ASSERT_FALSE(with.deque.push(with.make(1)));
  EXPECT_EQ(with.deque.push_anyway(frames::at(1)), attention::requested);
  EXPECT_TRUE(with.deque.publish(frames::at(1), &with));
  EXPECT_TRUE(with.deque.anything_public());
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_FALSE(with.deque.anything_public());
  EXPECT_TRUE(with.pop(frames::at(1)));
  EXPECT_FALSE(with.pop(frames::at(0)));
  EXPECT_FALSE(with.deque.take_back(frames::at(0)));
}

TYPED_TEST(deques, what_nobody_took_is_taken_back) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish(frames::at(0), &with));
  EXPECT_FALSE(with.pop(frames::at(0)));
  EXPECT_TRUE(with.deque.take_back(frames::at(0)));
  EXPECT_EQ(with.steal(), nullptr);
  ASSERT_TRUE(with.deque.push(with.make(0))) << "and the place is private again";
  EXPECT_TRUE(with.pop(frames::at(0)));
}

// The frames above one that took its fork back are still to be had.
TYPED_TEST(deques, older_forks_stay_private_when_a_newer_is_taken_back) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish(frames::at(0), &with));
  ASSERT_EQ(with.steal(), &with.continuations[0]);
  ASSERT_TRUE(with.deque.push(with.make(1)));
  ASSERT_TRUE(with.deque.push(with.make(2)));
  ASSERT_TRUE(with.pop(frames::at(2)));
  ASSERT_TRUE(with.deque.publish(frames::at(2), &with));
  EXPECT_FALSE(with.pop(frames::at(1)));
  EXPECT_TRUE(with.deque.take_back(frames::at(1)));
  ASSERT_TRUE(with.deque.push(with.make(1)));
  EXPECT_TRUE(with.pop(frames::at(1))) << "nobody has seen this one";
  EXPECT_FALSE(with.pop(frames::at(0)));
  EXPECT_FALSE(with.deque.take_back(frames::at(0)));
}

TYPED_TEST(deques, the_starved_publish_for_an_owner_that_pushes_nothing) {
  opened<TypeParam> with;
  EXPECT_FALSE(with.deque.publish_for_owner());
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.push(with.make(1)));
  EXPECT_TRUE(with.deque.has_work(nullptr));
  EXPECT_TRUE(with.deque.publish_for_owner());
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_TRUE(with.deque.publish_for_owner());
  EXPECT_EQ(with.steal(), &with.continuations[1]);
  EXPECT_FALSE(with.deque.publish_for_owner());
  EXPECT_FALSE(with.deque.has_work(nullptr));
}

// Each barrier of a thief pays for more forks than the one before.
TYPED_TEST(deques, the_starved_publish_more_each_time) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 8; ++depth)
    ASSERT_TRUE(with.deque.push(with.make(depth)));
  std::size_t stolen = 0;
  for (const unsigned wanted : {2u, 4u}) {
    ASSERT_TRUE(with.deque.publish_for_owner());
    for (std::size_t i = 0; i < wanted; ++i, ++stolen)
      ASSERT_EQ(with.steal(), &with.continuations[stolen]);
    EXPECT_FALSE(with.deque.anything_public());
  }
  EXPECT_TRUE(with.pop(frames::at(7))) << "the others are private";
}

// The owner takes them back in turn, and each place is private again.
TYPED_TEST(deques, several_public_forks_are_taken_back) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 3; ++depth)
    ASSERT_TRUE(with.deque.push(with.make(depth)));
  ASSERT_TRUE(with.deque.publish_for_owner());
  EXPECT_TRUE(with.pop(frames::at(2)));
  for (const std::size_t depth : {1u, 0u}) {
    EXPECT_FALSE(with.pop(frames::at(depth)));
    EXPECT_TRUE(with.deque.take_back(frames::at(depth)));
    ASSERT_TRUE(with.deque.push(with.make(depth)));
    EXPECT_TRUE(with.pop(frames::at(depth))) << "nobody has seen this one";
  }
  EXPECT_FALSE(with.deque.anything_public());
}

// After starvation the owner publishes at its forks unasked, until it has to take something back.
TYPED_TEST(deques, an_owner_whose_thieves_starved_publishes_unasked) {
  opened<TypeParam> with;
  const auto push_and_publish = [&](std::size_t depth) {
    EXPECT_FALSE(with.deque.push(with.make(depth)));
    EXPECT_EQ(with.deque.push_anyway(frames::at(depth)), attention::requested);
    EXPECT_TRUE(with.deque.publish(frames::at(depth), &with));
  };
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish_for_owner());
  ASSERT_EQ(with.steal(), &with.continuations[0]);
  with.deque.ask();
  push_and_publish(1);
  push_and_publish(2);
  EXPECT_TRUE(with.deque.push(with.make(3))) << "two are public: as many as are wanted";
  EXPECT_TRUE(with.pop(frames::at(3)));
  ASSERT_TRUE(with.close(2));
  ASSERT_TRUE(with.close(1));
  with.deque.ask();
  push_and_publish(1);
  EXPECT_TRUE(with.deque.push(with.make(2))) << "one is enough again";
  EXPECT_TRUE(with.pop(frames::at(2)));
  EXPECT_TRUE(with.close(1));
}

TYPED_TEST(deques, a_fork_taken_back_ends_unasked_publishing) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish_for_owner());
  with.deque.ask();
  ASSERT_FALSE(with.deque.push(with.make(1)));
  with.deque.push_anyway(frames::at(1));
  ASSERT_TRUE(with.deque.publish(frames::at(1), &with));
  ASSERT_EQ(with.steal(), &with.continuations[0]);
  ASSERT_EQ(with.steal(), &with.continuations[1]);
  with.deque.ask();
  ASSERT_FALSE(with.deque.push(with.make(2)));
  with.deque.push_anyway(frames::at(2));
  ASSERT_TRUE(with.deque.publish(frames::at(2), &with)) << "and one more is wanted";
  ASSERT_TRUE(with.close(2));
  EXPECT_TRUE(with.deque.push(with.make(2)));
  EXPECT_TRUE(with.pop(frames::at(2)));
}

TYPED_TEST(deques, without_the_heavy_barrier_every_push_attends) {
  opened<TypeParam> with(true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(with.deque.push(with.make(0)));
    EXPECT_EQ(with.deque.push_anyway(frames::at(0)), attention::requested);
    EXPECT_FALSE(with.pop(frames::at(0)));
    EXPECT_TRUE(with.deque.take_back(frames::at(0)));
  }
}

// Reading the owner's stack takes its lines away. `open` alone is a push that a search may miss.
TEST(stack_map, a_search_in_vain_is_repeated_only_after_the_owners_look_or_before_sleep) {
  opened<map_deque> with;
  with.deque.ask();
  ASSERT_FALSE(with.deque.publish_for_owner());
  nopal::stack::marks::open(with.make(0));
  EXPECT_FALSE(with.deque.publish_for_owner()) << "nothing was found since the request";
  with.deque.ask();
  EXPECT_FALSE(with.deque.publish_for_owner()) << "the request is one already";
  EXPECT_TRUE(with.deque.has_work(nullptr));
  EXPECT_TRUE(with.deque.publish_for_owner());
  EXPECT_EQ(with.steal(), &with.continuations[0]);

  ASSERT_FALSE(with.deque.publish_for_owner());
  ASSERT_FALSE(with.deque.push(with.make(1))) << "a request stays one";
  EXPECT_EQ(with.deque.attend(), attention::requested);
  EXPECT_TRUE(with.deque.publish_for_owner());
}

TEST(ring_word, counts_and_never_repeats) {
  ring_word word{0};
  EXPECT_EQ(word.count(), 0);
  const ring_word one = word.pushed();
  EXPECT_EQ(one.count(), 1);
  EXPECT_EQ(one.stolen().count(), 0);
  EXPECT_EQ(one.withdrawn().count(), 0);
  EXPECT_NE(one.stolen().bits, word.bits);
  EXPECT_NE(one.withdrawn().bits, word.bits) << "a word that came back would let a thief win (ABA)";
  EXPECT_EQ(one.stolen().head(), 1);
  EXPECT_EQ(one.withdrawn().tail(), 0);
}

TEST(ring_word, positions_wrap_without_touching_their_neighbours) {
  ring_word word{(std::uint64_t{7} << 32) | 0xffffffffu};
  EXPECT_EQ(word.count(), 0);
  const ring_word pushed = word.pushed();
  EXPECT_EQ(pushed.tail(), 0);
  EXPECT_EQ(pushed.head(), 0xffff);
  EXPECT_EQ(pushed.count(), 1);
  EXPECT_EQ(pushed.bits >> 32, 8u);
  EXPECT_EQ(pushed.stolen().head(), 0);
  EXPECT_EQ(pushed.stolen().bits >> 32, 9u);
}

TEST(public_ring, is_first_in_first_out_for_thieves_and_last_in_for_the_owner) {
  nopal::deque::public_ring<fork_record, 4> ring;
  fork_record records[4];
  continuation of[4];
  int group = 0;
  for (int round = 0; round < 100'000; ++round) { // positions wrap after 65,536
    for (int i = 0; i < 4; ++i)
      ring.push({&records[i], &of[i], &group}, static_cast<std::uintptr_t>(i));
    entry<fork_record> taken{};
    std::uintptr_t split = 9;
    ASSERT_EQ(ring.steal(&records, taken), outcome::foreign);
    ASSERT_TRUE(ring.holds(&group) && ring.holds(nullptr) && !ring.holds(&records));
    ASSERT_FALSE(ring.withdraw(&records[0], split));
    ASSERT_EQ(split, 9u);
    ASSERT_EQ(ring.steal(&group, taken), outcome::got);
    ASSERT_EQ(taken.frame, &of[0]);
    ASSERT_TRUE(ring.withdraw(&records[3], split));
    ASSERT_FALSE(ring.withdraw(&records[3], split));
    ASSERT_EQ(ring.steal(nullptr, taken), outcome::got);
    ASSERT_EQ(taken.record, &records[1]);
    ASSERT_TRUE(ring.withdraw(&records[2], split));
    ASSERT_EQ(split, 2u) << "of the newest that was taken back";
    ASSERT_TRUE(ring.empty());
    ASSERT_EQ(ring.steal(nullptr, taken), outcome::empty);
  }
}

} // namespace nopal_test
