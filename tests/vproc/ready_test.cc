// SPDX-License-Identifier: MIT
// Where a fiber goes when it becomes ready, and which thread is woken for it.
#include "nopal/vproc/entry.h"
#include "nopal/vproc/ready.h"
#include "tests/api/support.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::vproc::make_ready;
using nopal::vproc::shared_ready;

struct ready : testing::Test {
  nopal::vproc::group group;
  nopal::vproc::group other_group;
  idle_vproc other;
  fiber_of_group fiber{group};

  void TearDown() override { EXPECT_TRUE(shared_ready.empty()); }

  // A thread that waits for this group runs strands of the group meanwhile.
  void let_wait(const idle_vproc& waiting, nopal::vproc::group& waited_for) {
    waited_for.host = waiting.get();
    waiting->bound.set(&waited_for);
  }
};

TEST_F(ready, from_a_thread_without_a_strand_it_is_for_all) {
  make_ready(&fiber);
  EXPECT_EQ(shared_ready.take(), &fiber);
}

TEST_F(ready, from_a_strand_it_is_its_vprocs_own) {
  const own_vproc own;
  make_ready(&fiber);
  EXPECT_EQ(own->ready.take(), &fiber);
  EXPECT_TRUE(shared_ready.empty());
}

TEST_F(ready, a_vproc_keeps_none_that_it_may_not_run) {
  const own_vproc own;
  let_wait(own, other_group);
  make_ready(&fiber);
  EXPECT_TRUE(own->ready.empty());
  EXPECT_EQ(shared_ready.take(), &fiber);
}

TEST_F(ready, one_whose_turn_ended_waits_behind_those_of_all) {
  const own_vproc own;
  fiber.turn_ended = true;
  make_ready(&fiber);
  EXPECT_TRUE(own->ready.empty());
  EXPECT_EQ(shared_ready.take(), &fiber);
}

TEST_F(ready, a_pinned_one_goes_to_its_vproc) {
  const own_vproc own;
  let_wait(other, group);
  make_ready(&fiber.pinned_on(other.get()));
  EXPECT_TRUE(own->ready.empty());
  EXPECT_TRUE(shared_ready.empty());
  EXPECT_EQ(other->remote.take(), &fiber);
}

TEST_F(ready, one_that_is_pinned_to_the_callers_vproc_is_its_own) {
  const own_vproc own;
  let_wait(own, group);
  fiber.turn_ended = true; // all the same: no other vproc runs it
  make_ready(&fiber.pinned_on(own.get()));
  EXPECT_TRUE(own->remote.empty());
  EXPECT_EQ(own->ready.take(), &fiber);
}

// The vproc waits for an inner group, and runs none of the outer one's fibers until that ends.
TEST_F(ready, one_that_its_vproc_may_not_run_yet_waits_there) {
  const own_vproc own;
  let_wait(own, group);
  own->bound.set(&other_group);
  make_ready(&fiber.pinned_on(own.get()));
  EXPECT_TRUE(own->ready.empty());
  EXPECT_EQ(own->remote.take(), &fiber);
}

TEST_F(ready, a_thread_that_runs_no_strands_is_woken) {
  fiber.group = nullptr;
  fiber.waits_in = nopal::base::this_process;
  make_ready(&fiber);
  fiber.waker.wait(); // returns at once
  EXPECT_TRUE(shared_ready.empty());
}

struct noting_policy : nopal::vproc::policy {
  noting_policy() : policy{note} {}

  static void note(policy* self, nopal::vproc::fiber* strand, std::uint32_t number) noexcept {
    auto* const noted = static_cast<noting_policy*>(self);
    noted->fiber = strand;
    noted->number = number;
    noted->as_code_of_no_strand = !nopal::vproc::on_strand() && !nopal::vproc::enter_if_outside();
  }

  nopal::vproc::fiber* fiber = nullptr;
  std::uint32_t number = ~0u;
  bool as_code_of_no_strand = false;
};

TEST_F(ready, a_computations_policy_is_given_its_fibers) {
  const own_vproc own;
  noting_policy policy;
  make_ready(&fiber.ruled_by(&policy));
  EXPECT_EQ(policy.fiber, &fiber);
  EXPECT_EQ(policy.number, own->number);
  EXPECT_TRUE(policy.as_code_of_no_strand);
  EXPECT_EQ(nopal::vproc::current(), own.worker()) << "the strand goes on";
  EXPECT_TRUE(nopal::vproc::enter_if_outside()) << "it is outside the scheduler again";
  nopal::vproc::leave();
  EXPECT_FALSE(nopal::vproc::any_ready(own.get()));
}

TEST_F(ready, a_pinned_fiber_is_no_policys) {
  noting_policy policy;
  let_wait(other, group);
  make_ready(&fiber.ruled_by(&policy).pinned_on(other.get()));
  EXPECT_EQ(policy.fiber, nullptr);
  EXPECT_EQ(other->remote.take(), &fiber);
}

TEST_F(ready, the_thread_that_waits_for_the_group_is_woken) {
  sleeper waiting{group.parking};
  make_ready(&fiber);
  EXPECT_TRUE(waiting.was_woken());
  shared_ready.take();
}

TEST_F(ready, the_vproc_that_alone_may_run_it_is_woken) {
  let_wait(other, group);
  {
    sleeper at_vproc{other->parking};
    make_ready(&fiber.pinned_on(other.get()));
    EXPECT_TRUE(at_vproc.was_woken());
  }
  other->remote.take();
  sleeper at_group{group.parking};
  make_ready(&fiber);
  EXPECT_TRUE(at_group.was_woken());
  EXPECT_EQ(other->remote.take(), &fiber);
}

TEST_F(ready, what_a_vproc_shares_is_for_all_but_pinned_fibers) {
  const own_vproc own;
  let_wait(own, group);
  fiber_of_group second{group};
  fiber_of_group pinned{group};
  make_ready(&fiber);
  make_ready(&pinned.pinned_on(own.get()));
  make_ready(&second);
  nopal::vproc::share_ready(own.get());
  EXPECT_TRUE(own->ready.empty());
  EXPECT_EQ(own->remote.take(), &pinned);
  EXPECT_EQ(shared_ready.take(), &fiber);
  EXPECT_EQ(shared_ready.take(), &second);
  EXPECT_TRUE(shared_ready.empty());
}

// A fiber that is ready on another vproc alone is nothing for the thread that waits for its group.
TEST_F(ready, on_a_vproc_it_wakes_the_groups_thread_if_that_waits_there) {
  let_wait(other, group);
  sleeper waiting{group.parking};
  nopal::vproc::vproc* const pooled = nopal::vproc::add_pool_vproc();
  nopal::vproc::enqueue_on(pooled, &fiber);
  EXPECT_EQ(pooled->remote.take(), &fiber);
  EXPECT_FALSE(waiting.was_woken());
  nopal::vproc::enqueue_on(other.get(), &fiber);
  EXPECT_EQ(other->remote.take(), &fiber);
  EXPECT_TRUE(waiting.was_woken());
}

class ready_death : public death {};
constexpr const char* kCannotRunIt = "a fiber was enqueued on a vproc that cannot run it";

TEST_F(ready_death, a_fiber_is_enqueued_only_where_it_can_run) {
  const idle_vproc external;
  nopal::vproc::group group;
  fiber_of_group fiber{group};
  EXPECT_DEATH(nopal::vproc::enqueue_on(nullptr, &fiber), kCannotRunIt);
  EXPECT_DEATH(nopal::vproc::enqueue_on(external.get(), &fiber), kCannotRunIt)
      << "the thread waits for another group";
  nopal::vproc::vproc* const pooled = nopal::vproc::add_pool_vproc();
  pooled->spare.set(true);
  EXPECT_DEATH(nopal::vproc::enqueue_on(pooled, &fiber), kCannotRunIt) << "a spare may rest";
  pooled->spare.set(false);
  group.closed = true;
  EXPECT_DEATH(nopal::vproc::enqueue_on(pooled, &fiber), kCannotRunIt)
      << "of a closed group another vproc than its own";
  group.closed = false;
  nopal::vproc::enqueue_on(pooled, &fiber);
  EXPECT_EQ(pooled->remote.take(), &fiber);
}

} // namespace
} // namespace nopal_test
