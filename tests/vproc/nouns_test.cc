// SPDX-License-Identifier: MIT
// What fibers, computations, groups, workers and vprocs know of themselves.
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace nopal_test {
namespace {

TEST(fiber, is_pinned_where_its_context_says_so) {
  nopal::vproc::group group;
  const idle_vproc target;
  fiber_of_group fiber{group};
  EXPECT_FALSE(fiber.is_pinned()) << "it is in no computation";
  EXPECT_FALSE(fiber.ruled_by(nullptr).is_pinned());
  EXPECT_TRUE(fiber.pinned_on(target.get()).is_pinned());
  EXPECT_EQ(fiber.pinned_to(), target.get());
}

TEST(fiber, is_claimed_by_one_where_it_can_be_cancelled) {
  nopal::vproc::fiber fiber;
  EXPECT_TRUE(fiber.claim());
  EXPECT_TRUE(fiber.claim()) << "nobody else comes for it";
  nopal::sync::choice wakers;
  fiber.waits = &wakers;
  EXPECT_TRUE(fiber.claim());
  EXPECT_FALSE(fiber.claim());
  nopal::sync::choice cancelled;
  cancelled.claim(nopal::sync::choice::cancelled);
  fiber.waits = &cancelled;
  EXPECT_FALSE(fiber.claim());
}

TEST(computation, ends_with_its_last_fiber) {
  nopal::vproc::computation computation;
  computation.begin_one();
  computation.begin_one();
  EXPECT_FALSE(computation.end_one());
  EXPECT_FALSE(computation.end_one());
  EXPECT_TRUE(computation.end_one()) << "the function that run was given is one, too";
}

TEST(computation, counts_units_that_a_vproc_holds_as_fibers) {
  nopal::vproc::computation computation;
  nopal::vproc::computation other;
  nopal::vproc::held_units units;
  EXPECT_FALSE(units.begin_one(&computation)) << "it holds none";
  EXPECT_EQ(units.give_back(), nullptr);
  nopal::vproc::action holder{nullptr};
  EXPECT_TRUE(units.held_for(&holder)) << "none is held for another";
  units.hold(&computation, &holder);
  EXPECT_TRUE(units.held_for(&holder));
  EXPECT_FALSE(units.held_for(nullptr)) << "the vproc's own scheduler";
  EXPECT_FALSE(units.end_one(&other));
  EXPECT_TRUE(units.begin_one(&computation));
  EXPECT_FALSE(computation.end_one()) << "the first one";
  EXPECT_TRUE(computation.has_others());
  EXPECT_TRUE(units.end_one(&computation));
  EXPECT_EQ(units.give_back(), &computation) << "the spawned one was the last";
  EXPECT_TRUE(units.held_for(nullptr));
  EXPECT_FALSE(units.end_one(&computation)) << "it holds none any more";
}

TEST(computation, keeps_the_first_failure_and_counts_all) {
  nopal::vproc::computation computation;
  EXPECT_EQ(computation.failures(), 0u);
  for (const char* const what : {"first", "second"})
    try {
      throw std::runtime_error(what);
    } catch (...) {
      computation.fail(std::current_exception());
    }
  EXPECT_EQ(computation.failures(), 2u);
  std::string caught;
  try {
    std::rethrow_exception(std::exception_ptr{computation.first});
  } catch (const std::runtime_error& failure) {
    caught = failure.what();
  }
  EXPECT_EQ(caught, "first");
}

TEST(group, its_thread_goes_on_once) {
  nopal::vproc::group group;
  nopal::join::scope_frame* const scope = reinterpret_cast<nopal::join::scope_frame*>(&group);
  EXPECT_FALSE(group.is_finished());
  EXPECT_EQ(group.take_finished(), nullptr);
  group.finish(scope);
  EXPECT_TRUE(group.is_finished());
  EXPECT_EQ(group.take_finished(), scope);
  EXPECT_FALSE(group.is_finished());
  EXPECT_EQ(group.take_finished(), nullptr);
  group.finish(scope); // groups are used again
  EXPECT_EQ(group.take_finished(), scope);
}

TEST(group, its_name_says_whether_it_is_closed) {
  nopal::vproc::group group;
  void* const open = nopal::vproc::name_of(&group);
  EXPECT_EQ(nopal::vproc::named(open), &group);
  group.closed = true;
  void* const closed = nopal::vproc::name_of(&group);
  EXPECT_NE(closed, open);
  EXPECT_EQ(nopal::vproc::named(closed), &group);
  EXPECT_EQ(nopal::vproc::name_of(nullptr), nullptr);
  EXPECT_EQ(nopal::vproc::named(nullptr), nullptr);
}

// Many strands never fork before they wait again: for these the deque is left alone.
TEST(worker, a_strand_that_never_forks_gets_its_split_back) {
  const idle_vproc own;
  own.worker()->adopt_at_first_fork(0x1000);
  std::uintptr_t split = 0;
  EXPECT_TRUE(own.worker()->give_back(0x800, split));
  EXPECT_EQ(split, 0x1000u);
  own.worker()->adopt_at_first_fork(0x2000);
  own.worker()->use_no_stack();
  EXPECT_EQ(own.worker()->late_split, 0u);
}

TEST(worker, forks_of_a_strand_with_control_words_of_its_own_take_the_slow_path) {
  const own_vproc own;
  EXPECT_FALSE(own.worker()->own_control());
  EXPECT_FALSE(own.worker()->exceptions->alive());
  own.worker()->set_own_control(true);
  EXPECT_TRUE(own.worker()->own_control());
  EXPECT_TRUE(own.worker()->exceptions->alive());
  own.worker()->set_own_control(false);
  EXPECT_FALSE(own.worker()->own_control());
  EXPECT_EQ(own.worker()->exceptions, own->exceptions);
}

TEST(worker, a_thread_runs_no_strand_until_its_vproc_has_one) {
  EXPECT_FALSE(nopal::vproc::on_strand());
  EXPECT_TRUE(nopal::vproc::current()->exceptions->alive()) << "a fork takes the slow path";
  {
    const own_vproc own;
    EXPECT_TRUE(nopal::vproc::on_strand());
    EXPECT_EQ(nopal::vproc::current(), own.worker());
  }
  EXPECT_FALSE(nopal::vproc::on_strand());
}

TEST(vproc, looks_further_at_every_64th_turn) {
  const idle_vproc own;
  int further = 0;
  for (int i = 0; i < 640; ++i) {
    further += own->looks_further() ? 1 : 0;
    own->ready.begin_turn();
  }
  EXPECT_EQ(further, 10);
}

TEST(vproc, switches_by_itself_only_where_nobody_else_decides) {
  const idle_vproc own;
  if (own->watched)
    GTEST_SKIP() << "a tool watches each switch of stacks";
  EXPECT_TRUE(own->may_switch());
  nopal::vproc::action action{nullptr};
  own->actions.push(&action);
  EXPECT_FALSE(own->may_switch()) << "an action decides";
  own->actions.pop();
  nopal::vproc::group group;
  fiber_of_group remote{group};
  own->remote.add(&remote);
  EXPECT_FALSE(own->may_switch()) << "a remote fiber comes first";
  own->remote.take();
  own->spare.set(true);
  EXPECT_FALSE(own->may_switch()) << "a spare may have to rest";
  own->spare.set(false);
  own->signals.tell(nopal::sync::preempt_requested);
  EXPECT_FALSE(own->may_switch()) << "a signal waits";
  own->signals.take(nopal::sync::preempt_requested);
  EXPECT_TRUE(own->may_switch());
}

} // namespace
} // namespace nopal_test
