// SPDX-License-Identifier: MIT
// The signals of a vproc: each bit stays until it is taken, and interrupts the worker that runs.
#include "nopal/sync/signal_word.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using namespace nopal::sync;

struct interrupted {
  int times = 0;
  void interrupt() noexcept { ++times; }
};

TEST(signal_word, each_bit_stays_until_it_is_taken) {
  signal_word<interrupted> word;
  word.tell(preempt_requested);
  word.tell(stop_requested);
  EXPECT_TRUE(word.raised(preempt_requested));
  word.take(preempt_requested);
  EXPECT_FALSE(word.raised(preempt_requested));
  EXPECT_TRUE(word.raised(stop_requested));
  EXPECT_TRUE(word.maybe_raised(stop_requested));
}

TEST(signal_word, the_worker_that_runs_is_interrupted) {
  signal_word<interrupted> word;
  interrupted first, second;
  word.tell(stop_requested); // no worker runs
  word.run_with(&first);     // it sees what stands
  EXPECT_EQ(first.times, 1);
  word.take(stop_requested);
  word.run_with(&second);
  EXPECT_EQ(second.times, 0);
  word.tell(preempt_requested);
  EXPECT_EQ(second.times, 1);
  word.run_with(nullptr);
  word.tell(stop_requested);
  EXPECT_EQ(first.times + second.times, 2);
}

} // namespace
} // namespace nopal_test
