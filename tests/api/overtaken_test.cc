// SPDX-License-Identifier: MIT
// What comes in serial order behind a function that has thrown is not started where it would run on
// another thread, and stops if it has started.
#include "nopal/loop.h"
#include "tests/api/endless.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

#include <thread>

namespace nopal_test {
namespace {

constexpr int workers = 4;
const start this_program{workers};

template <class F> int thrown_by(F f) {
  try {
    f();
  } catch (const numbered& thrown) {
    return thrown.number();
  }
  return 0;
}

// The second half of the loop runs on a thief when the first iteration throws.
template <class Loop> int run_after_the_first_threw(int count, Loop loop) {
  gate second_half;
  std::atomic<bool> thrown{false};
  std::atomic<int> late{0};
  EXPECT_EQ(thrown_by([&] {
              loop([&](int i) {
                if (i == 0) {
                  second_half.wait();
                  thrown = true;
                  throw numbered(7);
                }
                second_half.open();
                if (thrown) {
                  late += 1;
                  std::this_thread::yield();
                }
              });
            }),
            7);
  EXPECT_LT(late, count / 2);
  return late;
}

TEST(overtaken, iterations_behind_one_that_has_thrown_are_not_started) {
  constexpr int count = 1 << 20;
  for (int round = 0; round < 5; ++round) {
    run_after_the_first_threw(count, [](auto f) { nopal::for_index(0, count, f, 1); });
    run_after_the_first_threw(count, [](auto f) {
      nopal::reduce(
          0, count, 0, [](int a, int b) { return a ^ b; },
          [&f](int i) {
            f(i);
            return i;
          },
          1);
    });
  }
}

// The second function ends only if the exception of the first one stops it.
template <class Endless> void stop_what_runs(Endless endless) {
  for (int round = 0; round < 200; ++round) {
    gate running;
    std::atomic<int> ended{0};
    EXPECT_EQ(thrown_by([&] {
                nopal::invoke(
                    [&] {
                      running.wait();
                      throw numbered(1);
                    },
                    [&] {
                      const counted_end end{ended};
                      running.open();
                      endless();
                    });
              }),
              1);
    ASSERT_EQ(ended, 1);
  }
}

TEST(overtaken, a_function_that_polls_stops) {
  stop_what_runs([] {
    for (;;)
      nopal::poll();
  });
}

TEST(overtaken, a_function_that_forks_stops) {
  stop_what_runs([] {
    for (;;)
      nopal::invoke([] {}, [] {});
  });
  stop_what_runs([] {
    for (;;) {
      nopal::scope s;
      s.fork([] {});
      s.fork([] {});
      s.join();
    }
  });
  stop_what_runs([] {
    for (;;)
      nopal::for_index(0, 100, [](int) {}, 1);
  });
}

TEST(overtaken, what_a_running_function_has_forked_stops_too) {
  stop_what_runs([] {
    const auto endless = [] {
      for (;;)
        nopal::poll();
    };
    nopal::invoke(endless, endless);
  });
}

// The children of a scope that come after the failed one stop; the function itself does not.
TEST(overtaken, a_scope_runs_on_to_its_join) {
  for (int round = 0; round < 200; ++round) {
    gate running;
    bool came_to_join = false;
    int forked = 0;
    std::atomic<int> run{0};
    EXPECT_EQ(thrown_by([&] {
                nopal::scope s;
                s.fork([&] {
                  running.wait();
                  throw numbered(1);
                });
                s.fork([&] {
                  running.open();
                  for (;;)
                    nopal::poll();
                });
                for (; forked < run + 100; ++forked) // until they are not run any more
                  s.fork([&] { run += 1; });
                for (int i = 0; i < 100; ++i)
                  nopal::invoke([] {}, [] {});
                came_to_join = true;
                s.join();
              }),
              1);
    ASSERT_TRUE(came_to_join);
    // When the loop ended, each other worker may still have been about to count one child.
    ASSERT_LE(run, forked - 100 + (workers - 1));
  }
}

// An exception that was caught overtakes nothing.
TEST(overtaken, a_caught_one_stops_nothing_outside) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> run{0};
    nopal::invoke(
        [&run] {
          EXPECT_EQ(thrown_by([] {
                      nopal::invoke([] { be_stolen(), throw numbered(3); }, [] { be_stolen(); });
                    }),
                    3);
          nopal::invoke([&run] { ++run; }, [&run] { ++run; });
        },
        [&run] { nopal::for_index(0, 10, [&run](int) { ++run; }, 1); });
    ASSERT_EQ(run, 12);
  }
}

} // namespace
} // namespace nopal_test
