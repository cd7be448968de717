// SPDX-License-Identifier: MIT
// What strands that wait for a mutex leave behind.
#include "nopal/mutex.h"
#include "nopal/runtime.h"
#include "nopal/sched/sched.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

namespace nopal_test {
namespace {

using nopal::sched::worker_count;

const start two_workers{2};

constexpr std::uint32_t kCrowd = 300;

void let_a_crowd_wait() {
  nopal::mutex mutex;
  mutex.lock();
  nopal::scope s;
  for (std::uint32_t i = 0; i < kCrowd; ++i)
    s.fork([&mutex] {
      mutex.lock();
      mutex.unlock();
    });
  EXPECT_GE(worker_count(), kCrowd);
  mutex.unlock();
  s.join();
}

void let_it_steal_once() {
  nopal::scope s;
  s.fork(be_stolen);
  s.join();
}

// One waiting strand, one worker. Thieves search all numbers up to the highest in use: after a
// crowd has waited they must not have to for ever.
TEST(workers, low_numbers_are_used_again_after_a_crowd_has_waited) {
  for (int round = 0; round < 3; ++round) {
    let_a_crowd_wait();
    int rounds = 0;
    while (worker_count() > 2 && rounds++ < 1000)
      let_it_steal_once();
    EXPECT_LE(worker_count(), 2u);
    EXPECT_GE(nopal::sched::workers_ever(), kCrowd);
    EXPECT_LE(nopal::sched::workers_ever(), kCrowd + 8);
  }
}

} // namespace
} // namespace nopal_test
