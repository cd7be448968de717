// SPDX-License-Identifier: MIT
// What the deque promises, step by step on one thread; the packed word and the ring below it.
#include "tests/deque/map_deque.h"

#include "tests/deque/deque_cases.h"

namespace nopal_test {

using nopal::deque::ring_word;

TYPED_TEST(deques, a_request_reaches_the_next_push_and_publishes_the_oldest) {
  opened<TypeParam> setup;
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  setup.deque.ask();
  ASSERT_FALSE(setup.deque.push(setup.make(1)));
  EXPECT_EQ(setup.deque.push_anyway(frames::at(1)), attention::requested);
  EXPECT_TRUE(setup.deque.publish(frames::at(1), &setup));
  EXPECT_TRUE(setup.deque.anything_public());
  EXPECT_EQ(setup.steal(), &setup.continuations[0]);
  EXPECT_FALSE(setup.deque.anything_public());
  EXPECT_TRUE(setup.pop(frames::at(1)));
  EXPECT_FALSE(setup.pop(frames::at(0)));
  EXPECT_FALSE(setup.deque.take_back(frames::at(0)));
}

// By the time of the steal the owner's thread may run another strand.
TYPED_TEST(deques, a_stolen_fork_has_the_errno_of_when_it_became_public) {
  opened<TypeParam> setup;
  int error = 3;
  setup.deque.error.set(&error);
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  ASSERT_TRUE(setup.deque.publish(frames::at(0), &setup));
  error = 4;
  entry<fork_record> taken{};
  ASSERT_EQ(setup.deque.steal(nullptr, taken), outcome::got);
  EXPECT_EQ(taken.error, 3);
}

TYPED_TEST(deques, what_nobody_took_is_taken_back) {
  opened<TypeParam> setup;
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  ASSERT_TRUE(setup.deque.publish(frames::at(0), &setup));
  EXPECT_FALSE(setup.pop(frames::at(0)));
  EXPECT_TRUE(setup.deque.take_back(frames::at(0)));
  EXPECT_EQ(setup.steal(), nullptr);
  ASSERT_TRUE(setup.deque.push(setup.make(0))) << "and the place is private again";
  EXPECT_TRUE(setup.pop(frames::at(0)));
}

// When a frame has taken its fork back, the forks of the frames above it can still be published.
TYPED_TEST(deques, older_forks_stay_private_when_a_newer_is_taken_back) {
  opened<TypeParam> setup;
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  ASSERT_TRUE(setup.deque.publish(frames::at(0), &setup));
  ASSERT_EQ(setup.steal(), &setup.continuations[0]);
  ASSERT_TRUE(setup.deque.push(setup.make(1)));
  ASSERT_TRUE(setup.deque.push(setup.make(2)));
  ASSERT_TRUE(setup.pop(frames::at(2)));
  ASSERT_TRUE(setup.deque.publish(frames::at(2), &setup));
  EXPECT_FALSE(setup.pop(frames::at(1)));
  EXPECT_TRUE(setup.deque.take_back(frames::at(1)));
  ASSERT_TRUE(setup.deque.push(setup.make(1)));
  EXPECT_TRUE(setup.pop(frames::at(1))) << "nobody has seen this one";
  EXPECT_FALSE(setup.pop(frames::at(0)));
  EXPECT_FALSE(setup.deque.take_back(frames::at(0)));
}

TYPED_TEST(deques, the_starved_publish_for_an_owner_that_pushes_nothing) {
  opened<TypeParam> setup;
  EXPECT_FALSE(setup.deque.publish_for_owner());
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  ASSERT_TRUE(setup.deque.push(setup.make(1)));
  EXPECT_TRUE(setup.deque.has_work(nullptr));
  EXPECT_TRUE(setup.deque.publish_for_owner());
  EXPECT_EQ(setup.steal(), &setup.continuations[0]);
  EXPECT_TRUE(setup.deque.publish_for_owner());
  EXPECT_EQ(setup.steal(), &setup.continuations[1]);
  EXPECT_FALSE(setup.deque.publish_for_owner());
  EXPECT_FALSE(setup.deque.has_work(nullptr));
}

// Each heavy barrier of a thief publishes more forks than the one before.
TYPED_TEST(deques, the_starved_publish_more_each_time) {
  opened<TypeParam> setup;
  for (std::size_t depth = 0; depth < 8; ++depth)
    ASSERT_TRUE(setup.deque.push(setup.make(depth)));
  std::size_t stolen = 0;
  for (const unsigned wanted : {2u, 4u}) {
    ASSERT_TRUE(setup.deque.publish_for_owner());
    for (std::size_t i = 0; i < wanted; ++i, ++stolen)
      ASSERT_EQ(setup.steal(), &setup.continuations[stolen]);
    EXPECT_FALSE(setup.deque.anything_public());
  }
  EXPECT_TRUE(setup.pop(frames::at(7))) << "the others are private";
}

// The owner takes them back in turn, and each place is private again.
TYPED_TEST(deques, several_public_forks_are_taken_back) {
  opened<TypeParam> setup;
  for (std::size_t depth = 0; depth < 3; ++depth)
    ASSERT_TRUE(setup.deque.push(setup.make(depth)));
  ASSERT_TRUE(setup.deque.publish_for_owner());
  EXPECT_TRUE(setup.pop(frames::at(2)));
  for (const std::size_t depth : {1u, 0u}) {
    EXPECT_FALSE(setup.pop(frames::at(depth)));
    EXPECT_TRUE(setup.deque.take_back(frames::at(depth)));
    ASSERT_TRUE(setup.deque.push(setup.make(depth)));
    EXPECT_TRUE(setup.pop(frames::at(depth))) << "nobody has seen this one";
  }
  EXPECT_FALSE(setup.deque.anything_public());
}

// After starvation the owner publishes at its forks unasked, until it has to take something back.
TYPED_TEST(deques, an_owner_whose_thieves_starved_publishes_unasked) {
  opened<TypeParam> setup;
  const auto push_and_publish = [&](std::size_t depth) {
    EXPECT_FALSE(setup.deque.push(setup.make(depth)));
    EXPECT_EQ(setup.deque.push_anyway(frames::at(depth)), attention::requested);
    EXPECT_TRUE(setup.deque.publish(frames::at(depth), &setup));
  };
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  ASSERT_TRUE(setup.deque.publish_for_owner());
  ASSERT_EQ(setup.steal(), &setup.continuations[0]);
  setup.deque.ask();
  push_and_publish(1);
  push_and_publish(2);
  EXPECT_TRUE(setup.deque.push(setup.make(3))) << "two are public: as many as are wanted";
  EXPECT_TRUE(setup.pop(frames::at(3)));
  ASSERT_TRUE(setup.close(2));
  ASSERT_TRUE(setup.close(1));
  setup.deque.ask();
  push_and_publish(1);
  EXPECT_TRUE(setup.deque.push(setup.make(2))) << "one is enough again";
  EXPECT_TRUE(setup.pop(frames::at(2)));
  EXPECT_TRUE(setup.close(1));
}

TYPED_TEST(deques, a_fork_taken_back_ends_unasked_publishing) {
  opened<TypeParam> setup;
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  ASSERT_TRUE(setup.deque.publish_for_owner());
  setup.deque.ask();
  ASSERT_FALSE(setup.deque.push(setup.make(1)));
  setup.deque.push_anyway(frames::at(1));
  ASSERT_TRUE(setup.deque.publish(frames::at(1), &setup));
  ASSERT_EQ(setup.steal(), &setup.continuations[0]);
  ASSERT_EQ(setup.steal(), &setup.continuations[1]);
  setup.deque.ask();
  ASSERT_FALSE(setup.deque.push(setup.make(2)));
  setup.deque.push_anyway(frames::at(2));
  ASSERT_TRUE(setup.deque.publish(frames::at(2), &setup)) << "and one more is wanted";
  ASSERT_TRUE(setup.close(2));
  EXPECT_TRUE(setup.deque.push(setup.make(2)));
  EXPECT_TRUE(setup.pop(frames::at(2)));
}

// What the thief of a continuation that is stolen again and again forks is public at once, until it
// has taken back three.
TYPED_TEST(deques, an_owner_that_expects_a_thief_publishes_unasked) {
  opened<TypeParam> setup;
  if constexpr (requires { setup.deque.expect_thief(); }) {
    for (int round = 0; round < 2; ++round) {
      setup.deque.expect_thief();
      for (int i = 0; i < 3; ++i) {
        ASSERT_FALSE(setup.deque.push(setup.make(0)));
        EXPECT_EQ(setup.deque.push_anyway(frames::at(0)), attention::requested);
        ASSERT_TRUE(setup.deque.publish(frames::at(0), &setup));
        EXPECT_TRUE(setup.deque.anything_public());
        ASSERT_TRUE(setup.close(0));
      }
      EXPECT_TRUE(setup.deque.push(setup.make(0))) << "nobody came";
      EXPECT_TRUE(setup.pop(frames::at(0)));
    }
  }
}

TYPED_TEST(deques, without_the_heavy_barrier_every_push_attends) {
  opened<TypeParam> setup(true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_FALSE(setup.deque.push(setup.make(0)));
    EXPECT_EQ(setup.deque.push_anyway(frames::at(0)), attention::requested);
    EXPECT_FALSE(setup.pop(frames::at(0)));
    EXPECT_TRUE(setup.deque.take_back(frames::at(0)));
  }
}

// Reading the owner's stack takes its lines away. `open` alone is a push that a search may miss.
TEST(stack_map, a_search_in_vain_is_repeated_only_after_the_owners_look_or_before_sleep) {
  opened<map_deque> setup;
  setup.deque.ask();
  ASSERT_FALSE(setup.deque.publish_for_owner());
  nopal::stack::marks::open(setup.make(0));
  EXPECT_FALSE(setup.deque.publish_for_owner()) << "nothing was found since the request";
  setup.deque.ask();
  EXPECT_FALSE(setup.deque.publish_for_owner()) << "the request is one already";
  EXPECT_TRUE(setup.deque.has_work(nullptr));
  EXPECT_TRUE(setup.deque.publish_for_owner());
  EXPECT_EQ(setup.steal(), &setup.continuations[0]);

  ASSERT_FALSE(setup.deque.publish_for_owner());
  ASSERT_FALSE(setup.deque.push(setup.make(1))) << "a request stays one";
  EXPECT_EQ(setup.deque.attend(), attention::requested);
  EXPECT_TRUE(setup.deque.publish_for_owner());
}

TEST(ring_word, counts_and_never_repeats) {
  ring_word word{0};
  EXPECT_EQ(word.count(), 0);
  const ring_word pushed = word.pushed();
  EXPECT_EQ(pushed.count(), 1);
  EXPECT_EQ(pushed.stolen().count(), 0);
  EXPECT_EQ(pushed.withdrawn().count(), 0);
  EXPECT_NE(pushed.stolen().bits, word.bits);
  EXPECT_NE(pushed.withdrawn().bits, word.bits)
      << "a word that came back would let a thief win (ABA)";
  EXPECT_EQ(pushed.stolen().head(), 1);
  EXPECT_EQ(pushed.withdrawn().tail(), 0);
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
  continuation parents[4];
  int group = 0;
  const auto push = [&](std::uintptr_t i) { ring.push({&records[i], &parents[i], &group}, i); };
  std::uintptr_t split = 9;
  std::uintptr_t oldest = 0; // remains, or the ring would begin anew
  push(oldest);
  for (int round = 0; round < 100'000; ++round) { // positions wrap after 65,536
    const std::uintptr_t next[] = {(oldest + 1) % 4, (oldest + 2) % 4, (oldest + 3) % 4};
    for (const std::uintptr_t i : next)
      push(i);
    entry<fork_record> taken{};
    ASSERT_EQ(ring.steal(&records, taken), outcome::foreign);
    ASSERT_TRUE(ring.holds(&group) && ring.holds(nullptr) && !ring.holds(&records));
    split = 9;
    ASSERT_FALSE(ring.withdraw(&records[oldest], split));
    ASSERT_EQ(split, 9u);
    ASSERT_EQ(ring.steal(&group, taken), outcome::got);
    ASSERT_EQ(taken.frame, &parents[oldest]);
    ASSERT_TRUE(ring.withdraw(&records[next[2]], split));
    ASSERT_EQ(split, next[2]) << "of the newest that was taken back";
    ASSERT_FALSE(ring.withdraw(&records[next[2]], split));
    ASSERT_EQ(ring.steal(nullptr, taken), outcome::got);
    ASSERT_EQ(taken.record, &records[next[0]]);
    oldest = next[1];
  }
  ASSERT_TRUE(ring.withdraw(&records[oldest], split));
  ASSERT_TRUE(ring.empty());
  entry<fork_record> taken{};
  ASSERT_EQ(ring.steal(nullptr, taken), outcome::empty);
  push(3);
  ASSERT_EQ(ring.steal(nullptr, taken), outcome::got);
  ASSERT_EQ(taken.frame, &parents[3]);
}

} // namespace nopal_test
