// SPDX-License-Identifier: MIT
// Correct programs whose continuations are stolen, under a sanitizer: each must pass, and the
// sanitizer must have nothing to say.
#include <nopal/fork.h>
#include <nopal/loop.h>
#include <nopal/runtime.h>

#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

class sanitized : public testing::Test {
protected:
  static void SetUpTestSuite() {
    nopal::options asked;
    asked.num_workers = 4;
    nopal::configure(asked);
    nopal::vproc::force_steals(7);
  }
};

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  const long y = fib(n - 2);
  s.join();
  return x + y;
}

TEST_F(sanitized, TreeOfForks) {
  EXPECT_EQ(fib(15), 610);
  EXPECT_GT(nopal::stats().steals, 5u);
}

// If function entries had no exits, a tool would reach its limit only after tens of thousands.
TEST_F(sanitized, SeventyThousandStolenForks) {
  constexpr std::uint64_t wanted = 70000;
  std::uint64_t forks = 0;
  while (nopal::stats().steals < wanted) {
    long parts[64] = {};
    nopal::scope s;
    for (long& part : parts) {
      s.fork([&part] { part = 1; });
      ++forks;
    }
    s.join();
    ASSERT_EQ(std::accumulate(std::begin(parts), std::end(parts), 0L), 64);
  }
  EXPECT_GE(forks, wanted);
}

int depth_of(int n) {
  if (n == 0)
    return 0;
  std::array<unsigned char, 100> ballast;
  ballast.fill(static_cast<unsigned char>(n));
  nopal::scope s;
  int below = 0;
  s.fork([&below, n] { below = depth_of(n - 1); });
  const auto intact =
      std::count(ballast.begin(), ballast.end(), static_cast<unsigned char>(n)) == 100;
  s.join();
  return below + (intact ? 1 : -1000000);
}

TEST_F(sanitized, DeepRecursion) { EXPECT_EQ(depth_of(400), 400); }

// Frames with arrays have poison around them; every way out of a frame must take it along.
[[gnu::noinline]] int sum_of_ballast(int n) {
  volatile int ballast[50];
  for (int i = 0; i < 50; ++i)
    ballast[i] = n;
  int sum = 0;
  for (int i = 0; i < 50; ++i)
    sum += ballast[i];
  return sum;
}

[[gnu::noinline]] int throwing(int n, int depth) {
  volatile int ballast[20];
  ballast[n % 20] = n;
  if (depth > 0)
    return throwing(n, depth - 1) + ballast[n % 20];
  throw std::runtime_error("number " + std::to_string(n));
}

// The continuation throws, so the frames between it and the handler are unwound on their own stack
// though the throw ran on a thief's.
[[gnu::noinline]] int continuation_throws(int n) {
  volatile int ballast[30];
  ballast[n % 30] = n;
  int child = 0; // lives longer than the scope: the child still writes it while `mine` throws
  nopal::scope s;
  s.fork(child, sum_of_ballast, n);
  const int mine = n % 2 == 0 ? throwing(n, 3) : sum_of_ballast(n);
  s.join();
  return mine + child - ballast[n % 30];
}

[[gnu::noinline]] int passes_on(int n) {
  volatile int ballast[40];
  ballast[n % 40] = n;
  return continuation_throws(n) + ballast[n % 40];
}

int exceptions_from_continuations(int rounds) {
  int caught = 0;
  for (int n = 0; n < rounds; ++n) {
    try {
      const int sum = passes_on(n);
      if (sum != 100 * n)
        return -1;
    } catch (const std::runtime_error& error) {
      caught += error.what() == "number " + std::to_string(n);
    }
    if (sum_of_ballast(1) != 50)
      return -1;
  }
  return caught;
}

TEST_F(sanitized, ContinuationsThrow) {
  EXPECT_EQ(exceptions_from_continuations(400), 200); // on the external thread's stack
  nopal::scope s;
  int inside = 0;
  s.fork(inside, exceptions_from_continuations, 400); // on a stack of ours
  s.join();
  EXPECT_EQ(inside, 200);
}

TEST_F(sanitized, ChildrenThrow) {
  int caught = 0;
  for (int n = 0; n < 400; ++n) {
    try {
      nopal::scope s;
      int first = 0;
      int second = 0;
      s.fork(first, throwing, n, 2);
      s.fork(second, sum_of_ballast, n);
      s.join();
    } catch (const std::runtime_error& error) {
      caught += error.what() == "number " + std::to_string(n);
    }
  }
  EXPECT_EQ(caught, 400);
}

struct counted {
  explicit counted(int v) : value{new int{v}} {}
  counted(const counted& from) : value{new int{*from.value}} {}
  counted(counted&& from) noexcept : value{std::exchange(from.value, nullptr)} {}
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() { delete value; }
  int* value;
};

TEST_F(sanitized, ClosuresThatOwnMemory) {
  for (int n = 0; n < 300; ++n) {
    std::vector<int> results(8);
    nopal::scope s;
    for (int i = 0; i < 8; ++i) {
      const counted own{n + i};
      s.fork([own, &results, i] { results[static_cast<std::size_t>(i)] = *own.value; });
    }
    s.join();
    for (int i = 0; i < 8; ++i)
      ASSERT_EQ(results[static_cast<std::size_t>(i)], n + i);
  }
}

TEST_F(sanitized, LoopsAndReductions) {
  std::vector<double> numbers(20000);
  nopal::for_index(0, 20000,
                   [&](int i) { numbers[static_cast<std::size_t>(i)] = static_cast<double>(i); });
  nopal::for_each(numbers, [](double& x) { x = x / 2; });
  const double sum = nopal::reduce(0, 20000, 0.0, std::plus<>{},
                                   [&](int i) { return numbers[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(sum, 99995000.0);
}

TEST_F(sanitized, StringsFromInvoke) {
  for (int n = 0; n < 200; ++n) {
    const auto [a, b, c] =
        nopal::invoke([n] { return std::string(100, static_cast<char>(n)); },
                      [] { return std::vector<int>(50, 3); }, [n] { return std::to_string(n); });
    ASSERT_EQ(a, std::string(100, static_cast<char>(n)));
    ASSERT_EQ(b.size(), 50u);
    ASSERT_EQ(c, std::to_string(n));
  }
}

TEST_F(sanitized, ExternalThreadsAtTheSameTime) {
  std::array<long, 6> results{};
  std::vector<std::thread> threads;
  for (long& result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 5; ++i)
        result += fib(9);
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const long result : results)
    EXPECT_EQ(result, 5 * 34);
}

TEST_F(sanitized, ShortLivedExternalThreads) {
  for (int n = 0; n < 100; ++n) {
    long result = 0;
    std::thread{[&result] { result = fib(6); }}.join();
    ASSERT_EQ(result, 8);
  }
}

[[gnu::noinline]] int with_large_frame(int n) {
  volatile int ballast[20000]; // 80 KB, on whatever stack comes next
  for (int i = 0; i < 20000; i += 100)
    ballast[i] = n;
  nopal::scope s;
  int child = 0;
  s.fork(child, sum_of_ballast, n);
  const int mine = sum_of_ballast(n + 1);
  s.join();
  int sum = mine + child;
  for (int i = 0; i < 20000; i += 100)
    sum += ballast[i] - n;
  return sum;
}

TEST_F(sanitized, LargeAndSmallFramesTakeTurns) {
  for (int n = 0; n < 200; ++n) {
    nopal::scope s;
    int large = 0;
    s.fork(large, with_large_frame, n);
    const int small = continuation_throws(2 * n + 1);
    s.join();
    ASSERT_EQ(large, 50 * n + 50 * (n + 1));
    ASSERT_EQ(small, 99 * (2 * n + 1));
  }
}

// Ends the program while two strands wait at joins, their memory known to their frames alone.
[[gnu::noinline]] void exit_while_suspended(bool exits) {
  const auto own = std::make_unique<std::array<char, 100>>();
  own->fill('x');
  nopal::scope s;
  s.fork([exits] {
    while (nopal::stats().suspensions < 2)
      std::this_thread::yield();
    if (exits)
      std::exit(0);
    for (;;)
      std::this_thread::yield();
  });
  s.join();
}

TEST_F(sanitized, WhatSuspendedStrandsHoldIsNotLeaked) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      nopal::invoke([] { exit_while_suspended(true); }, [] { exit_while_suspended(false); }),
      testing::ExitedWithCode(0), "^$");
}

} // namespace
