// SPDX-License-Identifier: MIT
// Fibers on one worker: each is run by the thread that called nopal::run.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/scheduler.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

const start setup{1};

// The two that give way to each other leave a turn to the third, which another thread makes ready.
TEST(fiber_alone, two_that_give_way_starve_no_third) {
  std::atomic<bool> done{false};
  nopal::channel<int> go;
  std::thread sender([&] { go.send(1); });
  nopal::run([&] {
    nopal::spawn([&] {
      go.recv();
      done = true;
    });
    for (int i = 0; i < 2; ++i)
      nopal::spawn([&] {
        while (!done)
          nopal::yield();
      });
  });
  sender.join();
  EXPECT_TRUE(done);
}

// The converse: those that others make ready starve nobody on the vproc itself.
TEST(fiber_alone, what_others_make_ready_starves_nobody) {
  constexpr int kRounds = 500;
  std::atomic<bool> done{false};
  nopal::channel<int> there;
  std::thread sender([&] {
    for (int i = 0; i < kRounds; ++i)
      there.send(i);
  });
  nopal::run([&] {
    nopal::spawn([&] {
      for (int i = 0; i < kRounds; ++i)
        EXPECT_EQ(there.recv(), i);
    });
    nopal::spawn([&] {
      for (int i = 0; i < 200; ++i)
        nopal::yield();
      done = true;
    });
  });
  sender.join();
  EXPECT_TRUE(done);
}

TEST(fiber_alone, fibers_take_turns_in_order) {
  std::vector<int> order;
  nopal::run([&] {
    for (int i = 0; i < 3; ++i)
      nopal::spawn([&, i] {
        for (int turn = 0; turn < 100; ++turn) {
          order.push_back(i);
          nopal::yield();
        }
      });
  });
  ASSERT_EQ(order.size(), 300u);
  for (std::size_t at = 0; at < order.size(); ++at)
    EXPECT_EQ(order[at], static_cast<int>(at % 3)) << "turn " << at;
}

TEST(fiber_alone, a_thousand_regions_in_turn) {
  int ended = 0;
  for (int i = 0; i < 1000; ++i)
    nopal::run([&] { nopal::spawn([&] { ended += 1; }); });
  EXPECT_EQ(ended, 1000);
}

} // namespace
} // namespace nopal_test
