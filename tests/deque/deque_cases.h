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

// Every fork is public at once (bench/baseline).
template <class Deque> inline constexpr bool is_classic = requires { Deque::steals_under_lock; };

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
  // While nobody asks; only a full array makes the push fail then.
  void fork_unseen(std::size_t depth) {
    if (!deque.push(make(depth))) {
      EXPECT_EQ(deque.push_anyway(frames::at(depth)), attention::none);
    }
  }
  bool pop(fork_record* of) {
    return Deque::pop(of, [this]() -> Deque& { return deque; });
  }
  bool close(std::size_t depth) {
    return pop(frames::at(depth)) || deque.take_back(frames::at(depth));
  }
  // The continuation a thief gets; null if none.
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
  opened<TypeParam> with;
  const std::uintptr_t here = frames::bottom(frames::id);
  std::uintptr_t split = 0;
  with.fork_unseen(0);
  EXPECT_FALSE(with.deque.give_back(here, split));
  ASSERT_TRUE(with.close(0));
  EXPECT_TRUE(with.deque.give_back(here, split));
  EXPECT_FALSE(with.deque.has_work(nullptr));
  opened<TypeParam> another;
  another.deque.adopt(frames::id, split, &another);
  another.fork_unseen(0);
  EXPECT_TRUE(another.close(0));
}

// The owner is suspended, so it neither pushes nor pops.
TYPED_TEST(deques, thieves_take_all_forks_of_an_absent_owner) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < 3; ++depth)
    with.fork_unseen(depth);
  for (std::size_t depth = 0; depth < 3; ++depth) {
    with.deque.publish_for_absent_owner();
    EXPECT_EQ(with.steal(), &with.continuations[depth]);
  }
  with.deque.publish_for_absent_owner();
  EXPECT_EQ(with.steal(), nullptr);
  EXPECT_FALSE(with.deque.has_work(nullptr));
}

TYPED_TEST(deques, as_constructed_takes_no_fork) {
  TypeParam fresh;
  fork_record* const open = new (frames::at(0)) fork_record{};
  EXPECT_FALSE(fresh.push(open));
}

TYPED_TEST(deques, unseen_forks_close_one_after_another) {
  opened<TypeParam> with;
  for (std::size_t depth = 0; depth < frames::depth; ++depth)
    with.fork_unseen(depth);
  EXPECT_EQ(with.deque.anything_public(), is_classic<TypeParam>);
  for (std::size_t depth = frames::depth; depth-- > 0;)
    ASSERT_TRUE(with.close(depth));
  EXPECT_FALSE(with.deque.has_work(nullptr));
}

TYPED_TEST(deques, what_the_starved_publish_belongs_to_the_owners_group) {
  opened<TypeParam> with;
  int other = 0;
  with.deque.adopt(frames::id, frames::top(), &other);
  ASSERT_TRUE(with.deque.push(with.make(0)));
  EXPECT_FALSE(with.deque.has_work(&with));
  EXPECT_TRUE(with.deque.has_work(&other));
  EXPECT_FALSE(with.deque.publish_for_owner(&with) && !is_classic<TypeParam>);
  ASSERT_TRUE(with.deque.publish_for_owner(&other));
  EXPECT_EQ(with.steal(&with), nullptr);
  EXPECT_EQ(with.steal(&other), &with.continuations[0]);
}

TYPED_TEST(deques, a_foreign_fork_is_public_at_once) {
  opened<TypeParam> with;
  continuation of;
  fork_record foreign{0, &of};
  with.deque.publish_root(&foreign, &with);
  EXPECT_TRUE(with.deque.take_back_root(&foreign));
  with.deque.publish_root(&foreign, &with);
  EXPECT_EQ(with.steal(), &of);
  EXPECT_FALSE(with.deque.take_back_root(&foreign));
}

} // namespace nopal_test
