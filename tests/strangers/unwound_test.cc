// SPDX-License-Identifier: MIT
// An exception of a child leaves a function that calls what writes no memory and may throw, as the
// compiler knows: a double free, since GCC's cleanup tested what it had read before the join.
#include <nopal/cancel.h>
#include <nopal/fork.h>

#include "nopal/runtime.h"
#include "nopal/vproc/settings.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

namespace {

std::atomic<long> alive{0};

struct failure {
  failure() noexcept { ++alive; }
  failure(const failure&) noexcept { ++alive; }
  failure& operator=(const failure&) = delete;
  ~failure() { --alive; }
};

[[gnu::noinline]] long child(long x) {
  if (x % 5 == 0)
    throw failure{};
  return x * 3 + 1;
}

#if defined(__clang__)
#define NOPAL_TEST_OPAQUE gnu::noinline
#else
#define NOPAL_TEST_OPAQUE gnu::noipa
#endif
[[NOPAL_TEST_OPAQUE, gnu::pure]] long pure(const long* x) {
  if (*x == -1)
    throw std::runtime_error{"no sum is negative"};
  return *x;
}

// What a scope does in the serial elision, where the join throws what a child has thrown.
class serial_scope {
public:
  template <class F> void fork(F f) {
    if (thrown_ != nullptr)
      return;
    try {
      f();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }
  void join() {
    if (thrown_ != nullptr)
      std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
  ~serial_scope() noexcept(false) {
    if (std::uncaught_exceptions() == 0)
      join();
  }

private:
  std::exception_ptr thrown_;
};

// What runs before the first join, and after it; a fork may come in between.
enum shape { joined_twice, joined_last, joined_by_the_end };

template <class Scope> [[gnu::noinline]] long sum(long seed, shape of) {
  long all = seed;
  try {
    std::array<long, 8> parts{};
    for (std::size_t i = 0; i < 4; ++i) {
      const long own = seed + static_cast<long>(i);
      Scope s;
      s.fork([&parts, i, own] { parts[i] = child(own); });
      if (seed % 13 == static_cast<long>(i))
        continue;
      if (of == joined_twice)
        s.join();
      all += pure(&own);
      s.fork([&parts, i, own] { parts[4 + i] = child(own + 2); });
      if (of == joined_last)
        all += pure(&own);
      if (of != joined_by_the_end)
        s.join();
    }
    for (const long each : parts)
      all += each;
  } catch (const failure&) {
    all += 7;
  }
  return all;
}

void expect_serial_sums() {
  for (long seed = 1; seed < 400; ++seed)
    for (const shape of : {joined_twice, joined_last, joined_by_the_end}) {
      const long expected = sum<serial_scope>(seed, of);
      ASSERT_EQ(sum<nopal::scope>(seed, of), expected) << seed << ", " << of;
      ASSERT_EQ(sum<nopal::cancel_scope>(seed, of), expected) << seed << ", " << of;
    }
  EXPECT_EQ(alive.load(), 0) << "an exception was destroyed twice, or not at all";
}

TEST(unwound, what_a_child_throws_is_thrown_once) { expect_serial_sums(); }

TEST(unwound, what_a_detached_child_throws_is_thrown_once) { // in a process of its own
  const auto forced = [] {
    nopal::configure({.num_workers = 2});
    nopal::vproc::force_steals(1);
    expect_serial_sums();
    std::exit(testing::Test::HasFailure());
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(forced(), testing::ExitedWithCode(0), "");
}

} // namespace
