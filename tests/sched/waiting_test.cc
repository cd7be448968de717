// SPDX-License-Identifier: MIT
// A strand that waits for a mutex keeps its worker only if it has open forks.
#include "nopal/mutex.h"
#include "nopal/sched/park.h"
#include "nopal/vproc/table.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <thread>

namespace nopal_test {
namespace {

using nopal::vproc::slots_in_use;

const start two_workers{2};

constexpr std::uint32_t kCrowd = 300;

// Each strand waits in a child, whose parent's continuation somebody else takes.
TEST(waiting, a_crowd_takes_no_slots_of_the_table) {
  nopal::mutex mutex;
  mutex.lock();
  nopal::scope s;
  for (std::uint32_t i = 0; i < kCrowd; ++i)
    s.fork([&mutex] {
      mutex.lock();
      mutex.unlock();
    });
  EXPECT_LE(slots_in_use(), 3u) << "this thread, the pool's, and no strand that waits";
  mutex.unlock();
  s.join();
  EXPECT_TRUE(nopal::vproc::suspended.empty());
}

// A leaf that waits has nothing open: its stack goes with it, and its deque stays.
TEST(waiting, without_open_forks_no_worker_is_left) {
  for (int round = 0; round < 100; ++round) {
    nopal::mutex mutex;
    std::atomic<bool> stolen{false};
    std::atomic<bool> unlocked{false};
    mutex.lock();
    nopal::scope s;
    s.fork([&] { // waits until its parent is stolen, so that nothing of its stack is open
      while (!stolen)
        std::this_thread::yield();
      mutex.lock();
      EXPECT_TRUE(unlocked);
      mutex.unlock();
    });
    stolen = true;
    EXPECT_TRUE(nopal::vproc::suspended.empty());
    unlocked = true;
    mutex.unlock();
    s.join();
  }
}

// What a waiting strand has left open is taken by others while it waits.
TEST(waiting, open_forks_of_a_waiting_strand_are_stolen) {
  for (int round = 0; round < 100; ++round) {
    nopal::mutex mutex;
    mutex.lock();
    nopal::scope s;
    // The child's continuation unlocks what the child waits for: so a thief has to take it.
    s.fork([&mutex] {
      mutex.lock();
      mutex.unlock();
    });
    mutex.unlock();
    s.join();
  }
  EXPECT_TRUE(nopal::vproc::suspended.empty());
}

} // namespace
} // namespace nopal_test
