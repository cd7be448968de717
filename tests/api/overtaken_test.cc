// SPDX-License-Identifier: MIT
// What comes in serial order behind a function that has thrown, and has not started, is not started
// either where it would run on another thread.
#include "nopal/loop.h"
#include "tests/api/numbered.h"
#include "tests/api/support.h"

namespace nopal_test {
namespace {

const start with{4};

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
          0, count, 0,
          [&f](int i) {
            f(i);
            return i;
          },
          [](int a, int b) { return a ^ b; }, 1);
    });
  }
}

// A function that has started is a whole, with all that it begins.
TEST(overtaken, a_function_that_has_started_goes_on_to_its_end) {
  for (int round = 0; round < 200; ++round) {
    gate running;
    std::atomic<bool> thrown{false};
    std::atomic<int> run{0};
    EXPECT_EQ(thrown_by([&] {
                nopal::invoke(
                    [&] {
                      running.wait();
                      thrown = true;
                      throw numbered(1);
                    },
                    [&]() noexcept {
                      running.open();
                      while (!thrown)
                        std::this_thread::yield();
                      nopal::invoke([&] { run += 1; }, [&] { run += 1; });
                      nopal::for_index(0, 40, [&](int) { run += 1; }, 1);
                    });
              }),
              1);
    ASSERT_EQ(run, 42);
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
