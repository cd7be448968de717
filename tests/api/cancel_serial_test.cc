// SPDX-License-Identifier: MIT
// cancel.h, either.h and find.h as the serial elision.
#define NOPAL_SERIAL 1
#include "nopal/cancel.h"
#include "nopal/either.h"
#include "nopal/find.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

namespace {

TEST(serial_cancel, skips_what_is_forked_after_it) {
  nopal::cancel_scope s;
  int before = 0;
  int after = 0;
  s.fork(before, [] { return 1; });
  s.cancel();
  s.fork(after, [] { return 1; });
  EXPECT_THROW(s.join(), nopal::cancelled);
  EXPECT_TRUE(s.cancelled());
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 0);
}

TEST(serial_cancel, comes_from_a_token_or_with_the_deadline) {
  std::stop_source outside;
  nopal::cancel_scope by_token{outside.get_token()};
  by_token.fork([&] { outside.request_stop(); });
  bool ran = false;
  by_token.fork([&] { ran = true; });
  EXPECT_FALSE(by_token.try_join());
  EXPECT_FALSE(ran);
  EXPECT_TRUE(by_token.token().stop_requested());

  nopal::cancel_scope late{std::chrono::steady_clock::now() - std::chrono::seconds(1)};
  late.fork([&] { ran = true; });
  EXPECT_FALSE(late.try_join());
  EXPECT_FALSE(ran);
}

TEST(serial_cancel, shielded_returns_what_the_function_does) {
  EXPECT_EQ(nopal::shielded([] { return 3; }), 3);
  EXPECT_FALSE(nopal::is_cancelled());
}

TEST(serial_cancel, keeps_the_first_reason) {
  nopal::cancel_scope s;
  EXPECT_EQ(s.reason(), nullptr);
  s.cancel(std::make_exception_ptr(1));
  s.cancel(std::make_exception_ptr(1.0));
  EXPECT_THROW(std::rethrow_exception(s.reason()), int);
  EXPECT_EQ(nopal::cancel_reason(), nullptr);

  nopal::cancel_scope late{std::chrono::steady_clock::now() - std::chrono::seconds(1)};
  late.fork([] {});
  EXPECT_THROW(std::rethrow_exception(late.reason()), nopal::deadline_passed);
}

TEST(serial_either, asks_the_elements_of_a_range_in_their_order) {
  std::vector<int> asked;
  const auto third = [&](int& each) {
    asked.push_back(each);
    return each == 3 ? std::optional{each} : std::nullopt;
  };
  std::vector<int> numbers{1, 2, 3, 4};
  EXPECT_EQ(nopal::either(numbers, third), 3);
  EXPECT_EQ(asked, (std::vector<int>{1, 2, 3}));
  numbers.resize(2);
  EXPECT_EQ(nopal::either(numbers, third), std::nullopt);
  std::vector<int (*)()> functions{[] { return 5; }};
  EXPECT_EQ(nopal::either(functions), 5);
  functions.front() = []() -> int { throw std::runtime_error("on purpose"); };
  EXPECT_THROW(nopal::either(functions), std::runtime_error);
  functions.push_back([] { return 6; });
  nopal::cancel_scope losers;
  EXPECT_EQ(nopal::either(losers, functions), 6);
  EXPECT_TRUE(losers.cancelled());
}

TEST(serial_either, takes_the_first_value_and_calls_nothing_behind_it) {
  int called = 0;
  const auto none = [&]() -> std::optional<int> {
    ++called;
    return std::nullopt;
  };
  const auto some = [&]() -> std::optional<int> { return ++called; };
  const auto throws = [&]() -> std::optional<int> {
    ++called;
    throw std::runtime_error("failed");
  };
  EXPECT_EQ(nopal::either(none, throws, some, some), 3);
  EXPECT_EQ(called, 3);
  EXPECT_EQ(nopal::either(none, none), std::nullopt);
  EXPECT_THROW(nopal::either(none, throws), std::runtime_error);
  nopal::cancel_scope losers;
  EXPECT_EQ(nopal::either(losers, some, some), 8);
  EXPECT_EQ(called, 8);
}

TEST(serial_loop, stops_early) {
  const std::vector<int> numbers{1, 2, 3, 4, 3};
  EXPECT_EQ(nopal::find_if(numbers, [](int x) { return x == 3; }), numbers.begin() + 2);
  int last = 0;
  EXPECT_EQ(nopal::for_index_while(0, 1000,
                                   [&](int i) {
                                     last = i;
                                     return i < 700;
                                   }),
            700);
  EXPECT_EQ(last, 700);
  EXPECT_EQ(nopal::reduce_while(
                1, 1000, 0, [](int a, int b) { return a + b; },
                [](int i) { return i <= 4 ? std::optional<int>(i) : std::nullopt; }),
            10);
}

} // namespace
