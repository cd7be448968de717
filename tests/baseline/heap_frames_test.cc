// SPDX-License-Identifier: MIT
// Frames on the heap (bench/baseline/heap_frames.h): what a fast clone begins, slow clones end.
//
// A child that waits for its continuation makes a thief come, so each of these steals happens in
// every run.
#include "bench/backend/heap_frames.h"
#include "bench/backend/heap_frames_problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace nopal_test {
namespace {

using bench::heap_frames::header;
using bench::heap_frames::worker;

constexpr int most = 4;

using counter = std::atomic<int>;

void wait_for(const counter& number, int least) {
  for (unsigned tries = 1; number < least; ++tries)
    nopal::base::wait_briefly(tries);
}

// Each child but the last ends only after the next one has begun, on another worker.
struct chain_frame : header {
  static long child(worker&, counter* begun, int number) {
    *begun = number;
    wait_for(*begun, std::min(number + 1, most));
    return number;
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      for (; spawned < most; ++spawned) {
        BENCH_SPAWN(1, results[spawned], child, begun, spawned + 1);
      }
      BENCH_SYNC(2);
    }
    long sum = Slow ? 1000 : 0;
    for (const long each : results)
      sum += each;
    return self.end(this, sum);
  }

  counter* begun;
  int spawned = 0;
  long results[most] = {};
};

// A child that goes on once its parent was stolen; then it is such a parent itself.
struct nest_frame : header {
  static long nested(worker& self, counter* reached, int depth) {
    wait_for(*reached, 1);
    return depth == 0 ? 1 : bench::heap_frames::call<nest_frame>(self, reached, depth - 1);
  }
  static long reach(worker&, counter* reached) {
    *reached = 1;
    return 1;
  }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      *reached = 0;
      BENCH_SPAWN(1, x, nested, reached, depth);
      BENCH_SPAWN(2, y, reach, reached);
      BENCH_SYNC(3);
    }
    return self.end(this, x + y);
  }

  counter* reached;
  int depth;
  long x = 0;
  long y = 0;
};

TEST(heap_frames, one_frame_is_stolen_again_and_again) {
  for (const unsigned workers : {2u, 4u, 7u}) {
    const bench::runtime all(workers);
    counter begun = 0;
    EXPECT_EQ(bench::runtime::first->execute([&begun](worker& self) {
      return bench::heap_frames::call<chain_frame>(self, &begun);
    }),
              1000 + 1 + 2 + 3 + 4);
    EXPECT_GE(all.read_counters().steals, most - 1u);
  }
}

TEST(heap_frames, results_pass_through_frames_that_were_stolen) {
  for (const unsigned workers : {2u, 3u}) {
    const bench::runtime all(workers);
    counter reached = 0;
    constexpr int depth = 50;
    EXPECT_EQ(bench::runtime::first->execute([&reached](worker& self) {
      return bench::heap_frames::call<nest_frame>(self, &reached, depth);
    }),
              1 + (depth + 1));
    EXPECT_GE(all.read_counters().steals, depth + 1u);
  }
}

// `entry` has the spawn's number once the frame is offered.
struct reading_frame : header {
  static long child(worker&, std::uint32_t entry) { return entry; }
  template <bool Slow> long run(worker& self) {
    switch (Slow ? entry : 0) {
    default:
      BENCH_SPAWN(1, first, child, entry);
      BENCH_SPAWN(2, second, child, entry);
      BENCH_SYNC(3);
    }
    return self.end(this, 10 * first + second);
  }

  long first = 0;
  long second = 0;
};

TEST(heap_frames, what_a_child_is_given_is_read_before_its_parent_is_offered) {
  const bench::runtime all(1);
  EXPECT_EQ(bench::runtime::first->execute(
                [](worker& self) { return bench::heap_frames::call<reading_frame>(self); }),
            1);
}

TEST(heap_frames, frames_are_used_again) {
  const bench::runtime all(1);
  const auto run = [] {
    return bench::runtime::first->execute(
        [](worker& self) { return bench::heap_frames::fib_frame::call(self, 20); });
  };
  EXPECT_EQ(run(), 6765);
  const std::uint64_t pages = bench::heap_frames::heap::pages();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(run(), 6765);
  EXPECT_EQ(bench::heap_frames::heap::pages(), pages);
}

TEST(heap_frames, the_stacks_of_workers_are_counted) {
  bench::runtime all(2);
  all.run([] { bench::go_deep(5); });
  EXPECT_GE(all.read_counters().stack_pages, 5u);
  EXPECT_LT(all.read_counters().stack_pages, 12u);
}

} // namespace
} // namespace nopal_test
