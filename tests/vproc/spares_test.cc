// SPDX-License-Identifier: MIT
// As many spares run as threads are blocked, and a spare that is no longer needed rests until it is
// called. The spares are threads of a pool whose body is the test's own.
#include "nopal/vproc/settings.h"
#include "nopal/vproc/spares.h"
#include "nopal/vproc/threads.h"
#include "tests/vproc/nouns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace nopal_test {
namespace {

using namespace nopal::vproc;

std::atomic<int> begun{0};
std::atomic<int> called{0}; // spares that rested, and run again

worker* run_spare(worker* self) noexcept {
  begun.fetch_add(1);
  while (!is_to_end(self->host)) {
    std::this_thread::yield();
    if (!too_many_spares())
      continue;
    rest_until_wanted(self->host);
    if (!is_to_end(self->host))
      called.fetch_add(1);
  }
  return self;
}

struct spares : testing::Test {
  void SetUp() override {
    begun = 0;
    called = 0;
    set_options_once();
    start_pool_threads(options_in_force(), options_asked(), run_spare);
  }
  void TearDown() override {
    tell_pool_threads_to_end();
    wake_resting_spares();
    join_pool_threads();
    forget_spares();
  }

  static void set_options_once() {
    static const bool once = (set_options({.num_workers = 1}), true); // the pool has no thread yet
    EXPECT_TRUE(once);
  }
};

TEST_F(spares, one_runs_for_each_thread_that_blocks) {
  EXPECT_FALSE(too_many_spares());
  lend_spare();
  wait_until([] { return begun == 1; });
  EXPECT_FALSE(too_many_spares());
  lend_spare();
  wait_until([] { return begun == 2; });
  take_spare_back();
  take_spare_back();
}

TEST_F(spares, one_that_rests_is_called_before_another_is_started) {
  lend_spare();
  lend_spare();
  wait_until([] { return begun == 2; });
  take_spare_back();
  wait_until([] { return !too_many_spares(); }); // one rests
  lend_spare();
  wait_until([] { return called == 1; });
  EXPECT_EQ(begun, 2);
  take_spare_back();
  take_spare_back();
  wait_until([] { return !too_many_spares(); });
}

// A thread that blocks again at once finds the spare that has not looked for work since.
TEST_F(spares, one_that_still_runs_is_none_too_many_where_it_is_wanted_again) {
  lend_spare();
  wait_until([] { return begun == 1; });
  for (int i = 0; i < 100; ++i) {
    take_spare_back();
    lend_spare();
  }
  EXPECT_EQ(begun, 1);
  take_spare_back();
}

TEST_F(spares, resting_ones_end_with_the_pool) {
  lend_spare();
  wait_until([] { return begun == 1; });
  take_spare_back();
  wait_until([] { return !too_many_spares(); });
}

TEST(lending, blocks_the_vproc_of_a_strand) {
  const own_vproc own;
  {
    const lending outer;
    EXPECT_TRUE(own->blocked.any());
    {
      const lending inner;
    }
    EXPECT_TRUE(own->blocked.any());
  }
  EXPECT_FALSE(own->blocked.any());
  EXPECT_FALSE(too_many_spares());
}

TEST(lending, is_nothing_on_a_thread_that_runs_no_strands) {
  const idle_vproc other;
  const lending blocked;
  EXPECT_FALSE(other->blocked.any());
}

} // namespace
} // namespace nopal_test
