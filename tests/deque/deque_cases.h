// SPDX-License-Identifier: MIT
// What every deque promises, step by step on one thread. Included by a file that defines
// `all_deques`.
#pragma once

#include "tests/deque/deque_stress.h"
#include "tests/deque/work_deque.h"

#include <algorithm>

namespace nopal_test {

template <class Deque> class deques : public testing::Test {
  static_assert(work_deque<Deque, fork_record>);
};
TYPED_TEST_SUITE(deques, all_deques);

// Whether every fork is public at once, as in the deques of bench/baseline.
template <class Deque> inline constexpr bool is_classic = requires { Deque::steals_under_lock; };

// A deque that a strand has adopted, and the continuations of its forks.
template <class Deque> struct opened {
  explicit opened(bool fenced = false) {
    nopal::base::enable_heavy_barrier();
    std::ranges::fill(frames::words, 0u); // marks of the test before
    deque.open(fenced);
    deque.adopt(frames::id, frames::top(), this);
    deque.attend();
  }
  fork_record* make(std::size_t depth) {
    return new (frames::at(depth)) fork_record{0, &continuations[depth]};
  }
  // Forks while no thief asks: then only a full array makes the push fail.
  void fork_unseen(std::size_t depth) {
    if (!deque.push(make(depth))) {
      EXPECT_EQ(deque.push_anyway(frames::at(depth)), attention::none);
    }
  }
  bool pop(fork_record* fork) {
    return Deque::pop(fork, [this]() -> Deque& { return deque; });
  }
  bool close(std::size_t depth) {
    return pop(frames::at(depth)) || deque.take_back(frames::at(depth));
  }
  // Returns the continuation that a thief gets; null if there is none.
  continuation* steal(void* group = nullptr) {
    entry<fork_record> taken{};
    return deque.steal(group, taken) == outcome::got ? taken.frame : nullptr;
  }

  Deque deque;
  continuation continuations[frames::depth];
};

// A strand that waits with open forks keeps the deque; without any it gives it back, and another
// deque serves it later.
TYPED_TEST(deques, is_given_back_once_nothing_is_open) {
  opened<TypeParam> setup;
  const std::uintptr_t place = frames::bottom(frames::id);
  std::uintptr_t split = 0;
  setup.fork_unseen(0);
  EXPECT_FALSE(setup.deque.give_back(place, split));
  ASSERT_TRUE(setup.close(0));
  EXPECT_TRUE(setup.deque.give_back(place, split));
  EXPECT_FALSE(setup.deque.has_work(nullptr));
  opened<TypeParam> another;
  another.deque.adopt(frames::id, split, &another);
  another.fork_unseen(0);
  EXPECT_TRUE(another.close(0));
}

// The owner is suspended, so it neither pushes nor pops.
TYPED_TEST(deques, thieves_take_all_forks_of_an_absent_owner) {
  opened<TypeParam> setup;
  for (std::size_t depth = 0; depth < 3; ++depth)
    setup.fork_unseen(depth);
  for (std::size_t depth = 0; depth < 3; ++depth) {
    setup.deque.publish_for_absent_owner();
    EXPECT_EQ(setup.steal(), &setup.continuations[depth]);
  }
  setup.deque.publish_for_absent_owner();
  EXPECT_EQ(setup.steal(), nullptr);
  EXPECT_FALSE(setup.deque.has_work(nullptr));
}

TYPED_TEST(deques, as_constructed_takes_no_fork) {
  TypeParam fresh;
  fork_record* const open = new (frames::at(0)) fork_record{};
  EXPECT_FALSE(fresh.push(open));
}

TYPED_TEST(deques, unseen_forks_close_one_after_another) {
  opened<TypeParam> setup;
  for (std::size_t depth = 0; depth < frames::depth; ++depth)
    setup.fork_unseen(depth);
  EXPECT_EQ(setup.deque.anything_public(), is_classic<TypeParam>);
  for (std::size_t depth = frames::depth; depth-- > 0;)
    ASSERT_TRUE(setup.close(depth));
  EXPECT_FALSE(setup.deque.has_work(nullptr));
}

TYPED_TEST(deques, what_the_starved_publish_belongs_to_the_owners_group) {
  opened<TypeParam> setup;
  int other = 0;
  setup.deque.adopt(frames::id, frames::top(), &other);
  ASSERT_TRUE(setup.deque.push(setup.make(0)));
  EXPECT_FALSE(setup.deque.has_work(&setup));
  EXPECT_TRUE(setup.deque.has_work(&other));
  EXPECT_FALSE(setup.deque.publish_for_owner(&setup) && !is_classic<TypeParam>);
  ASSERT_TRUE(setup.deque.publish_for_owner(&other));
  EXPECT_EQ(setup.steal(&setup), nullptr);
  EXPECT_EQ(setup.steal(&other), &setup.continuations[0]);
}

TYPED_TEST(deques, a_foreign_fork_is_public_at_once) {
  opened<TypeParam> setup;
  continuation of_main;
  fork_record foreign{0, &of_main};
  setup.deque.publish_root(&foreign, &setup);
  EXPECT_TRUE(setup.deque.take_back_root(&foreign));
  setup.deque.publish_root(&foreign, &setup);
  EXPECT_EQ(setup.steal(), &of_main);
  EXPECT_FALSE(setup.deque.take_back_root(&foreign));
}

} // namespace nopal_test
