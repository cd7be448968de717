// SPDX-License-Identifier: MIT
// What a canceller looks at: the stacks below what it cancels on which strands have waited, and the
// vprocs that have a thread; not what waits elsewhere, nor what has ended.
#include "nopal/cancelable.h"
#include "nopal/either.h"
#include "nopal/fiber.h"
#include "nopal/fiber_group.h"
#include "nopal/future.h"
#include "nopal/runtime.h"
#include "nopal/sched/descent.h"
#include "nopal/vproc/table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

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

// What a canceller of a node looks at: what is below it, and what is below several nodes.
std::size_t stacks_below(nopal::join::ancestor& node) {
  std::size_t count = 0;
  const auto add = [&count](const nopal::join::descendant*) { ++count; };
  node.for_each_below(add);
  nopal::sched::below_several().for_each_below(add);
  return count;
}

struct region : nopal::cancel_scope {
  std::size_t stacks() { return stacks_below(frame_.node.below); }
};
// Where a strand waits, so that the region has its place in the tree.
std::size_t stacks_of_a_region() {
  nopal::ivar<int> go;
  region own;
  own.fork([&] { go.get(); });
  const std::size_t count = own.stacks();
  go.set(1);
  own.join();
  return count;
}

TEST(looked_at, are_no_fibers_beside_what_is_cancelled) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(200, [](auto wait) { wait(); });
    EXPECT_LE(stacks_of_a_region(), 1u);
    others.end.set(1);
  });
  EXPECT_LE(stacks_of_a_region(), 1u);
}

TEST(looked_at, are_no_fibers_in_regions_of_their_own) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(100, [](auto wait) {
      nopal::cancel_scope own;
      own.fork(wait);
      EXPECT_TRUE(own.try_join());
    });
    EXPECT_LE(stacks_of_a_region(), 1u);
    others.end.set(1);
  });
}

TEST(looked_at, are_the_fibers_of_a_cancelable_and_no_others) {
  nopal::run([] {
    waiting_fibers others;
    others.begin(50, [](auto wait) { wait(); });
    nopal::cancel::tree_node ten{nullptr};
    std::atomic<int> begun{0};
    for (int i = 0; i < 10; ++i)
      nopal::detail::spawn_below(ten, [&] {
        begun += 1;
        others.end.get();
      });
    while (begun != 10)
      nopal::yield();
    EXPECT_LE(stacks_below(*ten.placed()), 10u);
    ten.cancel();
    EXPECT_EQ(stacks_below(*ten.placed()), 0u); // those ten have ended
    EXPECT_LE(stacks_of_a_region(), 1u);
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
