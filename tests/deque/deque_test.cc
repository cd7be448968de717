// SPDX-License-Identifier: MIT
// What the deques promise, step by step on one thread; the packed word and the ring below them.
#include "tests/deque/deque_stress.h"

#include <algorithm>

namespace nopal_test {

using nopal::deque::attention;
using nopal::deque::entry;
using nopal::deque::outcome;
using nopal::deque::ring_word;

template <class Deque> struct opened {
  explicit opened(bool fenced = false) {
    nopal::base::enable_heavy_barrier();
    std::ranges::fill(frames::words, 0u); // marks of the test before
    deque.open(fenced);
    deque.adopt(frames::id, frames::top(), this);
    deque.attend();
  }
  offer* make(std::size_t depth) { return new (frames::at(depth)) offer{0, &continuations[depth]}; }
  // While nobody asks; only a full array makes the push fail then.
  void offer_unseen(std::size_t depth) {
    if (!deque.push(make(depth))) {
      EXPECT_EQ(deque.push_anyway(frames::at(depth)), attention::none);
    }
  }
  bool close(std::size_t depth) {
    return deque.pop(frames::at(depth)) || deque.take_back(frames::at(depth));
  }
  // The continuation a thief gets; null if none.
  continuation* steal(void* home = nullptr) {
    entry<offer> taken{};
    return deque.steal(home, taken) == outcome::got ? taken.frame : nullptr;
  }

  Deque deque;
  continuation continuations[frames::depth];
};

TYPED_TEST(deques, as_constructed_takes_no_offer) {
  TypeParam fresh;
  offer* const open = new (frames::at(0)) offer{};
  EXPECT_FALSE(fresh.push(open));
}

TYPED_TEST(deques, unseen_offers_close_one_after_another) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < frames::depth; ++depth)
    with.offer_unseen(depth);
  EXPECT_EQ(with.deque.anything_public(), TypeParam::offers_are_public);
  for (std::size_t depth = frames::depth; depth-- > 0;)
    ASSERT_TRUE(with.close(depth));
  EXPECT_FALSE(with.deque.has_work(nullptr));
}

TYPED_TEST(private_deques, a_request_reaches_the_next_push_and_publishes_the_oldest) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  with.deque.ask();
  ASSERT_FALSE(with.deque.push(with.make(1)));
  EXPECT_EQ(with.deque.push_anyway(frames::at(1)), attention::requested);
  EXPECT_TRUE(with.deque.publish(frames::at(1), &with));
  EXPECT_TRUE(with.deque.anything_public());
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_FALSE(with.deque.anything_public());
  EXPECT_TRUE(with.deque.pop(frames::at(1)));
  EXPECT_FALSE(with.deque.pop(frames::at(0)));
  EXPECT_FALSE(with.deque.take_back(frames::at(0)));
}

TYPED_TEST(private_deques, what_nobody_took_is_taken_back) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish(frames::at(0), &with));
  EXPECT_FALSE(with.deque.pop(frames::at(0)));
  EXPECT_TRUE(with.deque.take_back(frames::at(0)));
  EXPECT_EQ(with.steal(), nullptr);
  ASSERT_TRUE(with.deque.push(with.make(0))) << "and the place is private again";
  EXPECT_TRUE(with.deque.pop(frames::at(0)));
}

// The frames above one that took its offer back are still to be had.
TYPED_TEST(private_deques, older_offers_stay_private_when_a_newer_is_taken_back) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish(frames::at(0), &with));
  ASSERT_EQ(with.steal(), &with.continuations[0]);
  ASSERT_TRUE(with.deque.push(with.make(1)));
  ASSERT_TRUE(with.deque.push(with.make(2)));
  ASSERT_TRUE(with.deque.pop(frames::at(2)));
  ASSERT_TRUE(with.deque.publish(frames::at(2), &with));
  EXPECT_FALSE(with.deque.pop(frames::at(1)));
  EXPECT_TRUE(with.deque.take_back(frames::at(1)));
  ASSERT_TRUE(with.deque.push(with.make(1)));
  EXPECT_TRUE(with.deque.pop(frames::at(1))) << "nobody has seen this one";
  EXPECT_FALSE(with.deque.pop(frames::at(0)));
  EXPECT_FALSE(with.deque.take_back(frames::at(0)));
}

TYPED_TEST(private_deques, the_starved_publish_for_an_owner_that_pushes_nothing) {
  opened<TypeParam> with;
  EXPECT_FALSE(with.deque.publish_for_owner(3));
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.push(with.make(1)));
  EXPECT_TRUE(with.deque.has_work(nullptr));
  EXPECT_TRUE(with.deque.publish_for_owner(3));
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_TRUE(with.deque.publish_for_owner(3));
  EXPECT_EQ(with.steal(), &with.continuations[1]);
  EXPECT_FALSE(with.deque.publish_for_owner(3));
  EXPECT_FALSE(with.deque.has_work(nullptr));
}

// Each barrier of a thief pays for more offers than the one before.
TYPED_TEST(private_deques, the_starved_publish_more_each_time) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 8; ++depth)
    ASSERT_TRUE(with.deque.push(with.make(depth)));
  std::size_t stolen = 0;
  for (const unsigned wanted : {2u, 4u}) {
    ASSERT_TRUE(with.deque.publish_for_owner(1));
    for (std::size_t i = 0; i < wanted; ++i, ++stolen)
      ASSERT_EQ(with.steal(), &with.continuations[stolen]);
    EXPECT_FALSE(with.deque.anything_public());
  }
  EXPECT_TRUE(with.deque.pop(frames::at(7))) << "the others are private";
}

// The owner takes them back in turn, and each place is private again.
TYPED_TEST(private_deques, several_public_offers_are_taken_back) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 3; ++depth)
    ASSERT_TRUE(with.deque.push(with.make(depth)));
  ASSERT_TRUE(with.deque.publish_for_owner(1));
  EXPECT_TRUE(with.deque.pop(frames::at(2)));
  for (const std::size_t depth : {1u, 0u}) {
    EXPECT_FALSE(with.deque.pop(frames::at(depth)));
    EXPECT_TRUE(with.deque.take_back(frames::at(depth)));
    ASSERT_TRUE(with.deque.push(with.make(depth)));
    EXPECT_TRUE(with.deque.pop(frames::at(depth))) << "nobody has seen this one";
  }
  EXPECT_FALSE(with.deque.anything_public());
}

// After starvation the owner publishes at its forks unasked, until it has to take something back.
TYPED_TEST(private_deques, an_owner_whose_thieves_starved_publishes_unasked) {
  opened<TypeParam> with;
  const auto push_and_publish = [&](std::size_t depth) {
    EXPECT_FALSE(with.deque.push(with.make(depth)));
    EXPECT_EQ(with.deque.push_anyway(frames::at(depth)), attention::requested);
    EXPECT_TRUE(with.deque.publish(frames::at(depth), &with));
  };
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish_for_owner(1));
  ASSERT_EQ(with.steal(), &with.continuations[0]);
  with.deque.ask();
  push_and_publish(1);
  push_and_publish(2);
  EXPECT_TRUE(with.deque.push(with.make(3))) << "two are public: as many as are wanted";
  EXPECT_TRUE(with.deque.pop(frames::at(3)));
  ASSERT_TRUE(with.close(2));
  ASSERT_TRUE(with.close(1));
  with.deque.ask();
  push_and_publish(1);
  EXPECT_TRUE(with.deque.push(with.make(2))) << "one is enough again";
  EXPECT_TRUE(with.deque.pop(frames::at(2)));
  EXPECT_TRUE(with.close(1));
}

TYPED_TEST(private_deques, an_offer_taken_back_ends_unasked_publishing) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  ASSERT_TRUE(with.deque.publish_for_owner(1));
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
  EXPECT_TRUE(with.deque.pop(frames::at(2)));
}

// Reading the owner's stack takes its lines away. `open` alone is a push that a search may miss.
TEST(stack_map, a_search_in_vain_is_repeated_only_after_the_owners_look_or_before_sleep) {
  opened<map_deque> with;
  with.deque.ask();
  ASSERT_FALSE(with.deque.publish_for_owner(1));
  nopal::stack::marks::open(with.make(0));
  EXPECT_FALSE(with.deque.publish_for_owner(1)) << "nothing was found since the request";
  with.deque.ask();
  EXPECT_FALSE(with.deque.publish_for_owner(1)) << "the request is one already";
  EXPECT_TRUE(with.deque.has_work(nullptr));
  EXPECT_TRUE(with.deque.publish_for_owner(1));
  EXPECT_EQ(with.steal(), &with.continuations[0]);

  ASSERT_FALSE(with.deque.publish_for_owner(1));
  ASSERT_FALSE(with.deque.push(with.make(1))) << "a request stays one";
  EXPECT_EQ(with.deque.attend(), attention::requested);
  EXPECT_TRUE(with.deque.publish_for_owner(1));
}

TYPED_TEST(deques, what_the_starved_publish_belongs_to_the_owners_computation) {
  opened<TypeParam> with;
  int other = 0;
  with.deque.adopt(frames::id, frames::top(), &other);
  ASSERT_TRUE(with.deque.push(with.make(0)));
  EXPECT_FALSE(with.deque.has_work(&with));
  EXPECT_TRUE(with.deque.has_work(&other));
  EXPECT_FALSE(with.deque.publish_for_owner(1, &with) && !TypeParam::offers_are_public);
  ASSERT_TRUE(with.deque.publish_for_owner(1, &other));
  EXPECT_EQ(with.steal(&with), nullptr);
  EXPECT_EQ(with.steal(&other), &with.continuations[0]);
}

TYPED_TEST(private_deques, without_the_heavy_barrier_every_push_attends) {
  opened<TypeParam> with(true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(with.deque.push(with.make(0)));
    EXPECT_EQ(with.deque.push_anyway(frames::at(0)), attention::requested);
    EXPECT_FALSE(with.deque.pop(frames::at(0)));
    EXPECT_TRUE(with.deque.take_back(frames::at(0)));
  }
}

TYPED_TEST(deques, a_foreign_offer_is_public_at_once) {
  opened<TypeParam> with;
  continuation of;
  offer foreign{0, &of};
  with.deque.publish_foreign(&foreign, &with);
  EXPECT_TRUE(with.deque.take_back_foreign(&foreign));
  with.deque.publish_foreign(&foreign, &with);
  EXPECT_EQ(with.steal(), &of);
  EXPECT_FALSE(with.deque.take_back_foreign(&foreign));
}

TYPED_TEST(classic_deques, thieves_take_the_oldest_and_the_owner_keeps_the_newest) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 5; ++depth)
    with.offer_unseen(depth);
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
TYPED_TEST(classic_deques, a_push_that_grows_the_array_sees_a_request) {
  opened<TypeParam> with;
  std::size_t depth = 0;
  while (depth < 4 && with.deque.push(with.make(depth)))
    ++depth;
  with.deque.ask();
  if (depth == 4) {
    ASSERT_FALSE(with.deque.push(with.make(depth)));
  }
  EXPECT_EQ(with.deque.push_anyway(frames::at(depth)), attention::requested);
  for (std::size_t i = 0; i <= depth; ++i)
    EXPECT_EQ(with.steal(), &with.continuations[i]);
  EXPECT_EQ(with.steal(), nullptr);
}

TYPED_TEST(classic_deques, a_push_that_saw_a_request_is_not_made_twice) {
  opened<TypeParam> with;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  with.deque.ask();
  ASSERT_FALSE(with.deque.push(with.make(1)));
  EXPECT_EQ(with.deque.push_anyway(frames::at(1)), attention::requested);
  EXPECT_TRUE(with.deque.publish(frames::at(1), &with));
  EXPECT_EQ(with.steal(), &with.continuations[0]);
  EXPECT_EQ(with.steal(), &with.continuations[1]);
  EXPECT_EQ(with.steal(), nullptr);
  EXPECT_FALSE(with.close(1));
  EXPECT_FALSE(with.close(0));
}

// The place of the stolen offer still holds the frame.
TYPED_TEST(classic_deques, a_frame_that_was_stolen_is_offered_again) {
  opened<TypeParam> with;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(with.deque.push(with.make(0)));
    ASSERT_EQ(with.steal(), &with.continuations[0]);
    ASSERT_FALSE(with.close(0));
    with.deque.adopt(frames::id, frames::top(), &with);
    with.deque.ask();
    ASSERT_FALSE(with.deque.push(with.make(0)));
    with.deque.push_anyway(frames::at(0));
    ASSERT_EQ(with.steal(), &with.continuations[0]);
    ASSERT_EQ(with.steal(), nullptr);
    ASSERT_FALSE(with.close(0));
    with.deque.adopt(frames::id, frames::top(), &with);
  }
}

TYPED_TEST(classic_deques, others_may_not_take_what_is_not_theirs) {
  opened<TypeParam> with;
  int other = 0;
  ASSERT_TRUE(with.deque.push(with.make(0)));
  EXPECT_EQ(with.steal(&other), nullptr);
  EXPECT_FALSE(with.deque.has_work(&other));
  EXPECT_TRUE(with.deque.has_work(&with));
  EXPECT_EQ(with.steal(&with), &with.continuations[0]);
  EXPECT_FALSE(with.close(0));
}

TEST(ring_word, counts_and_never_repeats) {
  ring_word word{0};
  EXPECT_EQ(word.count(), 0);
  const ring_word one = word.pushed();
  EXPECT_EQ(one.count(), 1);
  EXPECT_EQ(one.stolen().count(), 0);
  EXPECT_EQ(one.taken_back().count(), 0);
  EXPECT_NE(one.stolen().bits, word.bits);
  EXPECT_NE(one.taken_back().bits, word.bits)
      << "a word that came back would let a thief win (ABA)";
  EXPECT_EQ(one.stolen().head(), 1);
  EXPECT_EQ(one.taken_back().tail(), 0);
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
  nopal::deque::public_ring<offer, 4> ring;
  offer offers[4];
  continuation of[4];
  int home = 0;
  for (int round = 0; round < 100'000; ++round) { // positions wrap after 65,536
    for (int i = 0; i < 4; ++i)
      ring.push({&offers[i], &of[i], &home});
    entry<offer> taken{};
    ASSERT_EQ(ring.steal(&offers, taken), outcome::foreign);
    ASSERT_TRUE(ring.holds(&home) && ring.holds(nullptr) && !ring.holds(&offers));
    ASSERT_FALSE(ring.take_back(&offers[0]));
    ASSERT_EQ(ring.steal(&home, taken), outcome::got);
    ASSERT_EQ(taken.frame, &of[0]);
    ASSERT_TRUE(ring.take_back(&offers[3]));
    ASSERT_FALSE(ring.take_back(&offers[3]));
    ASSERT_EQ(ring.steal(nullptr, taken), outcome::got);
    ASSERT_EQ(taken.offer, &offers[1]);
    ASSERT_TRUE(ring.take_back(&offers[2]));
    ASSERT_TRUE(ring.empty());
    ASSERT_EQ(ring.steal(nullptr, taken), outcome::empty);
  }
}

} // namespace nopal_test
