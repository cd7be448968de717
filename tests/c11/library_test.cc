// SPDX-License-Identifier: MIT
// A C++ program and a library in C fork in each other's strands, with one copy of Nopal, and what
// C++ throws below C.
#include "tests/c11/library.h"

#include "nopal/cancel.h"
#include "nopal/fork.h"
#include "nopal/loop.h"
#include "nopal/nopal.h"
#include "nopal/runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>

namespace {

long fib(int n) {
  if (n < 2)
    return n;
  nopal::scope s;
  long x = 0;
  s.fork(x, fib, n - 1);
  const long y = n % 3 == 0 ? library_fib(n - 2) : fib(n - 2);
  s.join();
  return x + y;
}

TEST(c_library, forks_in_strands_of_the_program) { EXPECT_EQ(fib(16), 987); }

TEST(c_library, calls_functions_that_fork) {
  std::atomic<long> sum{0};
  const auto add = [](void* to, int i) {
    *static_cast<std::atomic<long>*>(to) += fib(i);
    return 0;
  };
  EXPECT_EQ(library_for_each(15, add, &sum), NOPAL_OK);
  EXPECT_EQ(sum, 986);
}

TEST(c_library, returns_on_its_callers_thread) {
  nopal::for_index(
      0, 64,
      [](int) {
        const std::thread::id before = std::this_thread::get_id();
        EXPECT_EQ(library_fib(10), 55);
        EXPECT_EQ(std::this_thread::get_id(), before);
      },
      1);
}

TEST(c_library, returns_a_number_where_a_function_throws) {
  const auto throws_at_3 = [](void*, int i) -> int {
    fib(5);
    if (i >= 3)
      throw std::runtime_error{std::to_string(i)};
    return 0;
  };
  ASSERT_EQ(library_for_each(6, throws_at_3, nullptr), NOPAL_EXCEPTION);
  EXPECT_STREQ(nopal_message(), "a function that was called in parallel has thrown: 3");
  EXPECT_THROW(nopal_rethrow(), std::runtime_error);
  ASSERT_EQ(nopal_affine([](void*) -> int { throw 5; }, nullptr), NOPAL_EXCEPTION);
  EXPECT_THROW(nopal_rethrow(), int);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(c_library_death, rethrows_nothing) {
  EXPECT_EXIT(nopal_rethrow(), testing::ExitedWithCode(70), "no call has returned NOPAL_EXCEPTION");
}

TEST(c_library, is_cancelled_with_its_callers_scope) {
  nopal::cancel_scope s;
  std::atomic<int> result{NOPAL_OK};
  s.fork([&] {
    const auto until_cancelled = [](void* scope, int i) {
      if (i == 0)
        static_cast<nopal::cancel_scope*>(scope)->cancel();
      while (nopal_is_cancelled() == 0)
        std::this_thread::yield();
      return static_cast<int>(NOPAL_CANCELLED);
    };
    result = library_for_each(4, until_cancelled, &s);
  });
  EXPECT_TRUE(s.try_join()); // the child has ended, for C returns numbers
  EXPECT_EQ(result, NOPAL_CANCELLED);
}

// nopal_stats copies the numbers as they lie.
#define IN_THE_SAME_PLACE(field)                                                                   \
  static_assert(offsetof(nopal::statistics, field) == offsetof(nopal_statistics, field))
IN_THE_SAME_PLACE(suspensions);
IN_THE_SAME_PLACE(resumptions);
IN_THE_SAME_PLACE(sleeps);
IN_THE_SAME_PLACE(wakeups);
IN_THE_SAME_PLACE(preemptions);
IN_THE_SAME_PLACE(unmaps);
IN_THE_SAME_PLACE(pages_returned);
IN_THE_SAME_PLACE(page_counts);
IN_THE_SAME_PLACE(stacks);
IN_THE_SAME_PLACE(fiber_stacks);
IN_THE_SAME_PLACE(stack_pages);
IN_THE_SAME_PLACE(charged_pages);
IN_THE_SAME_PLACE(suppressed_exceptions);

} // namespace
