// SPDX-License-Identifier: MIT
// Work that is submitted from anywhere, its results, and what follows them.
#include "nopal/loop.h"
#include "nopal/semaphore.h"
#include "nopal/submit.h"
#include "tests/api/alone.h"
#include "tests/api/support.h"

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace nopal_test {
namespace {

TEST(submit, gives_what_the_function_returns) {
  EXPECT_EQ(nopal::submit([] { return 3; }).get(), 3);
  EXPECT_EQ(nopal::submit([](int a, const std::string& b) { return b + std::to_string(a); }, 4,
                          std::string("x"))
                .get(),
            "x4");
  nopal::submit([] {}).get();
  EXPECT_EQ(
      *nopal::submit([own = std::make_unique<int>(5)]() mutable { return std::move(own); }).get(),
      5);
}

TEST(submit, throws_what_the_function_throws) {
  auto fails = nopal::submit([]() -> int { throw std::runtime_error("meant"); });
  EXPECT_THROW(fails.get(), std::runtime_error);
}

TEST(submit, lets_the_function_fork_and_wait) {
  nopal::semaphore done{0};
  auto waits = nopal::submit([&] {
    done.acquire();
    return fib(10);
  });
  EXPECT_FALSE(waits.is_ready());
  auto goes_on = nopal::submit([&] {
    done.release();
    return fib(11);
  });
  EXPECT_EQ(waits.get(), 55);
  EXPECT_EQ(goes_on.get(), 89);
}

TEST(submit, destroys_the_function_before_the_result_comes) {
  for (int round = 0; round < repetitions(300, 30); ++round) {
    const auto held = std::make_shared<int>(1);
    nopal::submit([held] { return *held; }).get();
    ASSERT_EQ(held.use_count(), 1);
  }
}

TEST(submit, many_from_several_threads) {
  const int n = repetitions(2000, 200);
  std::atomic<long> sum{0};
  const auto submit_all = [&] {
    std::vector<nopal::future<void>> all;
    for (int i = 0; i < n; ++i)
      all.push_back(nopal::submit([&sum, i] { sum += i; }));
    for (nopal::future<void>& each : all)
      each.get();
  };
  std::thread other{submit_all};
  submit_all();
  other.join();
  EXPECT_EQ(sum, 2L * n * (n - 1) / 2);
}

TEST(submit, in_strands_and_fibers) {
  std::atomic<int> sum{0};
  nopal::for_index(0, 100, [&](int i) { sum += nopal::submit([i] { return i; }).get(); }, 1);
  EXPECT_EQ(sum, 4950);
  nopal::run([&] {
    nopal::spawn(
        [&] { sum += nopal::submit([] { return nopal::submit([] { return 50; }).get(); }).get(); });
  });
  EXPECT_EQ(sum, 5000);
}

TEST(submit, what_is_forgotten_runs_all_the_same) {
  gate ran;
  static_cast<void>(nopal::submit([&] { ran.open(); }));
  ran.wait();
}

TEST(submit, begins_anew_where_nothing_was_left) {
  for (int round = 0; round < 50; ++round)
    ASSERT_EQ(nopal::submit(fib, 8).get(), 21);
}

TEST(then, follows_with_the_value) {
  auto text = nopal::submit([] {
                return 3;
              }).then([](int x) {
                  return std::make_unique<int>(x + 1);
                }).then([](std::unique_ptr<int> x) { return std::to_string(*x); });
  EXPECT_EQ(text.get(), "4");
  auto later = nopal::submit([] {});
  later.wait();
  EXPECT_EQ(std::move(later).then([] { return 5; }).get(), 5) << "the result has come before";
}

TEST(then, is_passed_by_an_exception) {
  bool called = false;
  auto fails = nopal::submit([]() -> int {
                 throw std::runtime_error("meant");
               }).then([&](int) {
                   called = true;
                 }).then([] { return 1; });
  EXPECT_THROW(fails.get(), std::runtime_error);
  EXPECT_FALSE(called);
}

TEST(then, of_a_long_chain_does_not_nest) {
  auto all = nopal::submit([] { return 0; });
  for (int i = 0; i < 10000; ++i)
    all = std::move(all).then([](int x) { return x + 1; });
  EXPECT_EQ(all.get(), 10000);
  auto fails = nopal::submit([]() -> int { throw 7; });
  for (int i = 0; i < 10000; ++i)
    fails = std::move(fails).then([](int x) { return x + 1; });
  EXPECT_THROW(fails.get(), int);
}

TEST(when_all, has_all_results) {
  auto [a, nothing, b] = nopal::when_all(nopal::submit([] { return 1; }), nopal::submit([] {}),
                                         nopal::submit([] { return std::make_unique<int>(2); }))
                             .get();
  static_assert(std::is_same_v<decltype(nothing), std::monostate>);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(*b, 2);
  std::vector<nopal::future<int>> many;
  for (int i = 0; i < 500; ++i)
    many.push_back(nopal::submit([i] { return i; }));
  const std::vector<int> values = nopal::when_all(std::move(many)).get();
  ASSERT_EQ(values.size(), 500u);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(nopal::when_all(std::vector<nopal::future<int>>{}).get().empty());
}

TEST(when_all, waits_for_all_and_throws_the_first_exception_of_the_list) {
  std::atomic<bool> ended{false};
  auto all = nopal::when_all(nopal::submit([&] {
                               fib(12);
                               ended = true;
                             }),
                             nopal::submit([] { throw 1; }), nopal::submit([] { throw 2; }));
  try {
    all.get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const int thrown) {
    EXPECT_EQ(thrown, 1);
  }
  EXPECT_TRUE(ended);
}

using future_death = death;
TEST_F(future_death, gives_its_result_once) {
  EXPECT_EXIT(
      {
        auto once = nopal::submit([] { return 1; });
        once.get();
        once.get();
      },
      testing::ExitedWithCode(70),
      "^nopal: a nopal::future was used that has no result: it was moved from, or has given its "
      "result by get or then\n$");
}

} // namespace
} // namespace nopal_test
