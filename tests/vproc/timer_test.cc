// SPDX-License-Identifier: MIT
// Which vprocs the timer tells to preempt their strands, and which get a spare in their place.
#include "nopal/vproc/spares.h"
#include "nopal/vproc/timer.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::sync::preempt_requested;
using nopal::vproc::heed_preemption;

struct timer : testing::Test {
  static void SetUpTestSuite() {
    nopal::vproc::open_timer(true, 1,
                             {nopal::vproc::lend_place_of_another, nopal::vproc::take_place_back});
  }
  void TearDown() override {
    clock->runs.set(false);
    nopal::vproc::shared_ready.take();
  }

  // All vprocs compete with this fiber.
  void make_ready() {
    nopal::vproc::shared_ready.add(&fiber);
    nopal::vproc::want_ticks();
  }
  // The timer tells `clock` twice; in between it looks at every vproc.
  void wait_for_a_tick() {
    clock->runs.set(true);
    for (int i = 0; i < 2; ++i) {
      heed_preemption(clock.get());
      nopal::vproc::want_ticks();
      wait_until([&] { return clock->signals.raised(preempt_requested); });
    }
    clock->runs.set(false);
    heed_preemption(clock.get());
  }

  nopal::vproc::group group;
  fiber_of_group fiber{group};
  idle_vproc clock;
  idle_vproc vproc;
};

TEST_F(timer, tells_a_vproc_that_runs_while_a_fiber_is_ready) {
  vproc->runs.set(true);
  make_ready();
  wait_until([&] { return vproc->signals.raised(preempt_requested); });
  vproc->runs.set(false);
  wait_for_a_tick();
  heed_preemption(vproc.get());
  EXPECT_FALSE(vproc->signals.raised(preempt_requested));
}

TEST_F(timer, tells_no_vproc_that_does_not_run_or_blocks) {
  const idle_vproc blocked;
  blocked->runs.set(true);
  blocked->blocked.add();
  make_ready();
  wait_for_a_tick();
  EXPECT_FALSE(vproc->signals.raised(preempt_requested)) << "it runs no strand";
  EXPECT_FALSE(blocked->signals.raised(preempt_requested)) << "a spare has its place";
  blocked->blocked.subtract();
  blocked->runs.set(false);
}

TEST_F(timer, alternatives_compete_without_a_ready_fiber) {
  EXPECT_FALSE(nopal::vproc::any_alternatives());
  vproc->runs.set(true);
  nopal::vproc::begin_alternatives();
  nopal::vproc::begin_alternatives();
  wait_until([&] { return vproc->signals.raised(preempt_requested); });
  nopal::vproc::end_alternatives();
  EXPECT_TRUE(nopal::vproc::any_alternatives());
  nopal::vproc::end_alternatives();
  EXPECT_FALSE(nopal::vproc::any_alternatives());
  vproc->runs.set(false);
  make_ready();
  wait_for_a_tick();
  heed_preemption(vproc.get());
}

TEST_F(timer, a_spare_stands_in_for_a_vproc_until_it_takes_its_signal) {
  vproc->runs.set(true);
  make_ready();
  wait_until([&] { return vproc->stood_in.load(); });
  vproc->runs.set(false);
  wait_for_a_tick();
  heed_preemption(vproc.get());
  EXPECT_FALSE(vproc->stood_in.load());
}

} // namespace
} // namespace nopal_test
