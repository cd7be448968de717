// SPDX-License-Identifier: MIT
// A leaf is a call: what it is given, returns and throws.
#pragma once

#include <nopal/fork.h>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace {

long sum_below(long n) {
  if (n <= 64) {
    return nopal::leaf([=] {
      long sum = 0;
      for (long i = 0; i < n; ++i)
        sum += i;
      return sum;
    });
  }
  nopal::scope s;
  long low;
  s.fork(low, sum_below, n / 2);
  const long high = sum_below(n - n / 2) + (n / 2) * (n - n / 2);
  s.join();
  return low + high;
}

TEST(leaf, ends_a_recursion) { EXPECT_EQ(sum_below(100'000), 4'999'950'000); }

TEST(leaf, returns_what_the_function_returns) {
  int number = 3;
  static_assert(std::is_void_v<decltype(nopal::leaf([] {}))>);
  static_assert(std::is_same_v<decltype(nopal::leaf([=] { return number; })), int>);
  int& same = nopal::leaf([&]() -> int& { return number; });
  EXPECT_EQ(&same, &number);
  EXPECT_EQ(*nopal::leaf([=] { return std::make_unique<int>(number); }), 3);
}

// The closure lives in the caller, also where its bytes could be copied.
TEST(leaf, returns_a_reference_into_the_closure) {
  const std::array<int, 2> numbers{4, 5};
  const auto second = [numbers]() -> const int& { return numbers[1]; };
  EXPECT_EQ(nopal::leaf(second), 5);
  EXPECT_EQ(&nopal::leaf(second), &second());
}

TEST(leaf, takes_what_cannot_be_copied) {
  const auto owner = [owned = std::make_unique<int>(6)] { return *owned; };
  EXPECT_EQ(nopal::leaf(owner), 6);
}

int seven() { return 7; }
TEST(leaf, takes_a_function) { EXPECT_EQ(nopal::leaf(seven), 7); }

TEST(leaf, throws_what_the_function_throws) {
  nopal::scope s;
  bool ran = false;
  s.fork([&] { ran = true; });
  EXPECT_THROW(nopal::leaf([] { throw std::runtime_error("bark"); }), std::runtime_error);
  s.join();
  EXPECT_TRUE(ran);
}

TEST(leaf, may_fork) {
  EXPECT_EQ(nopal::leaf([] { return sum_below(10'000); }), 49'995'000);
}

} // namespace
