// SPDX-License-Identifier: MIT
// The cases of preemption_cases.cc on one thread, where other fibers run only if the busy one gives
// way; and cases that show which fiber goes first.
#include "nopal/channel.h"
#include "nopal/fiber.h"
#include "nopal/preemption.h"
#include "tests/api/support.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace {
const nopal_test::start this_program{1};
}

namespace nopal_test {

using clock = std::chrono::steady_clock;

// Calls f for 45 milliseconds: some ticks, each of which takes 10.
template <class F> void for_some_ticks(F f) {
  const auto end = clock::now() + std::chrono::milliseconds{45};
  while (clock::now() < end)
    f();
}

// A spare may run the others meanwhile; the strand itself is not preempted until the guard is gone.
TEST(preemption_alone, a_mask_is_respected_and_only_delays) {
  std::atomic<bool> others_ran{false};
  std::uint64_t while_masked = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      while (!others_ran)
        std::this_thread::yield();
    });
    const std::uint64_t before = nopal::stats().preemptions;
    {
      const nopal::no_preemption whole;
      for_some_ticks([] { nopal::poll(); });
      for_some_ticks([] { fib(5); });
      while_masked = nopal::stats().preemptions - before;
    }
    nopal::spawn([] {}); // competes, while the first fiber has a spare's thread
    while (nopal::stats().preemptions == before)
      nopal::poll();
    others_ran = true;
  });
  EXPECT_EQ(while_masked, 0u);
}

// A fiber that uses up its turns lets all others go first, even those that become ready later.
TEST(preemption_alone, those_that_wait_often_go_before_one_that_does_not) {
  nopal::channel<int> there;
  nopal::channel<int> back;
  std::atomic<bool> done{false};
  int turns = 0;
  nopal::run([&] {
    nopal::spawn([&] {
      while (!done) {
        turns += 1;
        const std::uint64_t before = nopal::stats().preemptions;
        while (nopal::stats().preemptions == before && !done)
          nopal::poll();
      }
    });
    nopal::spawn([&] {
      for (int i = 0; i < 1000; ++i) {
        there.send(i);
        back.recv();
      }
      done = true;
    });
    nopal::spawn([&] {
      for (int i = 0; i < 1000; ++i) {
        there.recv();
        back.send(i);
      }
    });
  });
  EXPECT_LT(turns, 200); // it would have a thousand if the three took turns
}

// Code that neither forks nor polls keeps its thread; others get another one.
TEST(preemption_alone, a_spare_runs_others_beside_code_that_ignores_its_ticks) {
  std::atomic<bool> ran{false};
  pid_t other = 0;
  nopal::run([&] {
    const pid_t own = thread_id();
    nopal::spawn([&] {
      other = thread_id();
      ran = true;
    });
    while (!ran)
      std::this_thread::yield();
    EXPECT_EQ(thread_id(), own);
    EXPECT_NE(other, own);
  });
}

} // namespace nopal_test
