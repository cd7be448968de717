// SPDX-License-Identifier: MIT
// Alarms ring when their time has come, and not once they were taken back.
#include "nopal/vproc/alarms.h"
#include "nopal/vproc/fiber.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using namespace std::chrono_literals;
using nopal::sync::choice;
using nopal::vproc::alarm;
using nopal::vproc::fiber;
using nopal::vproc::timed_wait;

struct bell : alarm {
  bell() : alarm{ring} {}
  ~bell() { reset(); }
  static void ring(alarm* due) noexcept {
    auto* const own = static_cast<bell*>(due);
    own->at = clock::now();
    own->heard.release();
    own->rung();
  }

  clock::time_point at{};
  std::binary_semaphore heard{0};
};

TEST(alarms, ring_not_before_their_time_and_may_be_set_again) {
  bell repeated;
  for (int i = 0; i < 3; ++i) {
    const auto due = alarm::clock::now() + 2ms;
    repeated.set(due);
    repeated.heard.acquire();
    EXPECT_GE(repeated.at, due);
    repeated.reset();
  }
}

TEST(alarms, that_are_set_for_an_earlier_time_do_not_wait_for_later_ones) {
  bell never;
  never.set(alarm::clock::time_point::max());
  bell late;
  late.set(alarm::clock::now() + 24h);
  bell past;
  past.set(alarm::clock::time_point::min());
  past.heard.acquire();
  EXPECT_FALSE(late.heard.try_acquire());
  EXPECT_FALSE(never.heard.try_acquire());
}

// Each is taken back before its time, or at about its time; those that are left ring.
TEST(alarms, that_were_taken_back_do_not_ring) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<bell>> all;
    for (int i = 0; i < 50; ++i) {
      all.push_back(std::make_unique<bell>());
      all.back()->set(alarm::clock::now() + std::chrono::microseconds{20 * i});
    }
    for (std::size_t i = 0; i < all.size(); i += 2)
      all[i].reset(); // it may be ringing
    for (std::size_t i = 1; i < all.size(); i += 2)
      all[i]->heard.acquire();
  }
}

TEST(alarms, wake_what_waits_unless_another_was_faster) {
  choice first;
  fiber waiting; // of no group: a thread that runs no strand waits
  waiting.waits_in = nopal::base::this_process;
  timed_wait until{first, 7};
  until.begin(&waiting, alarm::clock::now() + 1ms);
  waiting.waker.wait();
  until.end();
  EXPECT_EQ(first.taken(), 7u);

  choice second;
  fiber woken;
  woken.waits_in = nopal::base::this_process;
  timed_wait later{second, 7};
  later.begin(&woken, alarm::clock::now() + 24h);
  EXPECT_TRUE(second.claim(0));
  later.end();
  EXPECT_EQ(second.taken(), 0u);
}

} // namespace
} // namespace nopal_test
