// SPDX-License-Identifier: MIT
// The cases of regions_cases.cc with one worker, and orders that are certain there.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/policies.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <atomic>
#include <string>
#include <thread>

namespace {
const nopal_test::start begun{1};
}

namespace nopal_test {

// A fiber that was woken from outside goes before those that were preempted.
TEST(turns, a_woken_fiber_goes_before_preempted_ones) {
  constexpr int pollers = 16;
  nopal::channel<int> from_outside;
  std::atomic<int> waiting{0};
  std::atomic<bool> sent{false};
  std::atomic<int> turns{0}; // changes of the polling fiber, since then
  std::atomic<bool> stop{false};
  std::atomic<int> last{-1};
  std::thread other{[&] {
    while (waiting < pollers)
      std::this_thread::yield();
    from_outside.send(1); // the fiber is ready when it returns
    sent = true;
  }};
  nopal::run([&] {
    nopal::spawn([&] {
      from_outside.recv();
      stop = true;
    });
    for (int i = 0; i < pollers; ++i)
      nopal::spawn([&, i] {
        waiting += 1;
        while (!stop) {
          if (last.exchange(i) != i && sent)
            turns += 1;
          nopal::poll();
        }
      });
  });
  other.join();
  EXPECT_LE(turns, 3);
}

// All that a fiber runs without a scheduler shares the fiber's turns.
TEST(turns, a_plain_run_shares_its_callers_turns) {
  nopal::round_robin order;
  std::string ran;
  bool stop = false;
  nopal::run(order, [&] {
    nopal::spawn([&] {
      nopal::run([&] {
        for (int i = 0; i < 3; ++i)
          nopal::spawn([&] {
            while (!stop) {
              ran += 'a';
              nopal::yield();
            }
          });
      });
    });
    nopal::spawn([&] {
      for (int i = 0; i < 9; ++i) {
        ran += 'b';
        nopal::yield();
      }
      stop = true;
    });
  });
  EXPECT_NE(ran.find("babababababab"), std::string::npos) << ran;
}

} // namespace nopal_test
