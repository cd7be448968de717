// SPDX-License-Identifier: MIT
// What a canceller looks at: the stacks below what it cancels on which strands have waited, and the
// vprocs that have a thread; not what waits elsewhere, nor what has ended.
#include "nopal/cancelable.h"
#include "nopal/either.h"
#include "nopal/fiber.h"
#include "nopal/future.h"
#include "nopal/runtime.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

using nopal::sched::stacks_looked_at;

// Fibers that wait, each in what `wait_in` does.
struct waiting_fibers {
  template <class WaitIn> void begin(int number, WaitIn wait_in) {
    for (int i = 0; i < number; ++i)
      nopal::spawn([this, wait_in] {
        wait_in([this] {
          begun += 1;
          end.get();
        });
      });
    while (begun != number)
      nopal::yield();
  }

  std::atomic<int> begun{0};
  nopal::ivar<int> end;
};

template <class F> std::uint64_t looks_of(F f) {
  const std::uint64_t before = stacks_looked_at();
  f();
  return stacks_looked_at() - before;
}

void cancel_region() {
  nopal::cancel_scope region;
  region.fork([] {});
  region.cancel();
  static_cast<void>(region.try_join());
}
void answer() {
  EXPECT_TRUE(nopal::either([] { return 1; }, [] { return 1; }));
}

TEST(looked_at, are_no_fibers_beside_what_is_cancelled) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(200, [](auto wait) { wait(); });
    EXPECT_LE(looks_of(cancel_region), 1u);
    EXPECT_LE(looks_of(answer), 1u);
    others.end.set(1);
  });
  EXPECT_LE(looks_of(cancel_region), 1u);
}

TEST(looked_at, are_no_fibers_in_regions_of_their_own) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(100, [](auto wait) {
      nopal::cancel_scope own;
      own.fork(wait);
      EXPECT_TRUE(own.try_join());
    });
    EXPECT_LE(looks_of(answer), 1u);
    others.end.set(1);
  });
}

TEST(looked_at, are_the_fibers_of_a_cancelable_and_no_others) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(50, [](auto wait) { wait(); });
    nopal::cancelable ten;
    std::atomic<int> begun{0};
    for (int i = 0; i < 10; ++i)
      nopal::spawn(ten, [&] {
        begun += 1;
        others.end.get();
      });
    while (begun != 10)
      nopal::yield();
    EXPECT_LE(looks_of([&] { ten.cancel(); }), 10u);
    EXPECT_LE(looks_of(answer), 1u); // those ten have ended
    others.end.set(1);
  });
}

TEST(looked_at, is_nothing_elsewhere_when_a_child_fails) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(100, [](auto wait) { wait(); });
    const auto fail = [] {
      nopal::scope s;
      for (int i = 0; i < 10; ++i)
        s.fork([i] {
          if (i == 5)
            throw std::runtime_error("on purpose");
        });
      EXPECT_THROW(s.join(), std::runtime_error);
    };
    EXPECT_LE(looks_of(fail), 10u);
    others.end.set(1);
  });
}

std::size_t live_vprocs() {
  std::size_t count = 0;
  nopal::vproc::for_each_live_vproc([&](const nopal::vproc::vproc*) { ++count; });
  return count;
}

TEST(looked_at, are_no_vprocs_of_threads_that_have_ended) {
  const auto fork_once = [] {
    nopal::scope s;
    s.fork([] {});
    s.join();
  };
  fork_once(); // this thread's, and the pool's
  const std::size_t before = live_vprocs();
  constexpr int number = 40;
  std::latch all_have_forked{number + 1};
  std::latch seen{1};
  std::vector<std::jthread> threads;
  for (int i = 0; i < number; ++i)
    threads.emplace_back([&] {
      fork_once();
      all_have_forked.arrive_and_wait();
      seen.wait();
    });
  all_have_forked.arrive_and_wait();
  EXPECT_EQ(live_vprocs(), before + number);
  seen.count_down();
  threads.clear();
  EXPECT_EQ(live_vprocs(), before);
}

} // namespace
} // namespace nopal_test
