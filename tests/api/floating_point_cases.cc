// SPDX-License-Identifier: MIT
// nopal::floating_point: which control words code computes with, wherever its continuation runs.
#include "nopal/affine.h"
#include "nopal/base/die.h"
#include "nopal/floating_point.h"
#include "nopal/loop.h"
#include "nopal/mutex.h"
#include "tests/api/support.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cfenv>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace nopal_test {

// An interval that contains the number which the operations without rounding would give.
struct interval {
  double low, high;
};

[[gnu::noinline]] double third_of(double x) {
  volatile double three = 3;
  volatile double quotient = x / three;
  return quotient;
}

// The sum of `count` thirds, at least or at most, by forks within a guard.
[[gnu::noinline]] double sum_of_thirds(int count) {
  if (count == 1)
    return third_of(1);
  double left = 0;
  nopal::scope s;
  s.fork(left, sum_of_thirds, count / 2);
  volatile double right = sum_of_thirds(count - count / 2);
  s.join();
  volatile double sum = left + right;
  return sum;
}

double rounded(int mode, int count) {
  const nopal::floating_point guard{mode};
  return sum_of_thirds(count);
}

TEST(floating_point, interval_arithmetic) {
  const int count = repetitions(1000, 50);
  for (int i = 0; i < repetitions(20, 2); ++i) {
    interval sum{};
    nopal::scope s;
    s.fork(sum.low, rounded, FE_DOWNWARD, count);
    sum.high = rounded(FE_UPWARD, count);
    s.join();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_LT(sum.low, count / 3.0);
    EXPECT_GT(sum.high, count / 3.0);
  }
}

// Expects both control words, those of SSE and of x87, to say `mode` at each fork and join.
void expect_rounding(int mode, int depth) {
  EXPECT_EQ(std::fegetround(), mode);
  volatile long double one = 1, three = 3;
  volatile long double third = one / three;
  EXPECT_EQ(third * 3 > 1, mode == FE_UPWARD);
  if (depth == 0)
    return;
  nopal::scope s;
  s.fork(expect_rounding, mode, depth - 1);
  EXPECT_EQ(std::fegetround(), mode);
  s.fork(expect_rounding, mode, depth - 1);
  s.join();
  EXPECT_EQ(std::fegetround(), mode);
}

TEST(floating_point, forks_within_a_guard_compute_as_it_says_at_any_depth) {
  for (int i = 0; i < repetitions(10, 2); ++i) {
    {
      const nopal::floating_point guard{FE_UPWARD};
      be_stolen();
      expect_rounding(FE_UPWARD, 3);
      be_stolen();
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    }
    expect_rounding(FE_TONEAREST, 2);
  }
}

TEST(floating_point, older_continuations_keep_theirs) {
  for (int i = 0; i < repetitions(50, 10); ++i) {
    gate stolen;
    nopal::scope s;
    s.fork([&] {
      const nopal::floating_point guard{FE_UPWARD};
      stolen.wait();
      expect_rounding(FE_UPWARD, 1);
    });
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    stolen.open();
    expect_rounding(FE_TONEAREST, 1);
    s.join();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

TEST(floating_point, guards_nest) {
  nopal::scope outermost;
  outermost.fork(be_stolen);
  for (int i = 0; i < repetitions(20, 4); ++i) {
    const nopal::floating_point up{FE_UPWARD};
    {
      const nopal::floating_point down{FE_DOWNWARD};
      be_stolen();
      {
        const nopal::floating_point back{FE_TONEAREST}; // as the computation began
        expect_rounding(FE_TONEAREST, 1);
      }
      EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
      be_stolen();
      EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    }
    expect_rounding(FE_UPWARD, 1);
  }
  outermost.join();
}

// The guard is from before the computation, which has its words; the strand leaves it on a thief.
TEST(floating_point, a_guard_around_an_outermost_fork_ends_on_a_thief) {
  for (int i = 0; i < repetitions(50, 10); ++i) {
    gate stolen;
    nopal::scope s;
    {
      const nopal::floating_point guard{FE_UPWARD};
      s.fork([&] {
        stolen.wait();
        expect_rounding(FE_UPWARD, 1);
      });
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    }
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    stolen.open();
    expect_rounding(FE_TONEAREST, 1);
    s.join();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

TEST(floating_point, a_computation_has_the_words_with_which_its_outermost_fork_began) {
  std::thread{[] {
    std::fesetround(FE_TOWARDZERO);
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); // as -ffast-math does before main
    std::atomic<int> otherwise{0};
    nopal::mutex one_at_a_time; // each needs a thief
    nopal::for_index(
        0, repetitions(200, 20),
        [&](int) {
          const std::lock_guard guard{one_at_a_time};
          be_stolen();
          if (std::fegetround() != FE_TOWARDZERO || _MM_GET_FLUSH_ZERO_MODE() == 0)
            otherwise += 1;
        },
        1);
    EXPECT_EQ(otherwise, 0);
  }}.join();
}

TEST(floating_point, an_affine_region_within_a_guard_has_its_words) {
  for (int i = 0; i < repetitions(20, 4); ++i) {
    nopal::scope s;
    s.fork([] {
      const nopal::floating_point guard{FE_UPWARD};
      nopal::affine([] { expect_rounding(FE_UPWARD, 2); });
      expect_rounding(FE_UPWARD, 1);
      nopal::affine([] {
        const nopal::floating_point inner{FE_DOWNWARD};
        expect_rounding(FE_DOWNWARD, 1);
      });
      EXPECT_EQ(std::fegetround(), FE_UPWARD);
    });
    expect_rounding(FE_TONEAREST, 1);
    s.join();
  }
}

TEST(floating_point, a_strand_that_waits_for_a_mutex_keeps_its_words) {
  nopal::mutex mutex;
  std::atomic<int> otherwise{0};
  nopal::for_index(
      0, repetitions(200, 40),
      [&](int i) {
        const int mode = i % 2 == 0 ? FE_UPWARD : FE_TONEAREST;
        const nopal::floating_point guard{mode};
        nopal::scope s;
        s.fork([&] {
          const std::lock_guard held{mutex};
          be_stolen();
          otherwise += std::fegetround() != mode;
        });
        {
          const std::lock_guard held{mutex};
          otherwise += std::fegetround() != mode;
          be_stolen();
          otherwise += std::fegetround() != mode;
        }
        s.join();
        otherwise += std::fegetround() != mode;
      },
      1);
  EXPECT_EQ(otherwise, 0);
}

TEST(floating_point, an_exception_ends_a_guard) {
  for (int i = 0; i < repetitions(20, 4); ++i) {
    nopal::scope s;
    s.fork([] {
      EXPECT_THROW(
          {
            const nopal::floating_point guard{FE_UPWARD};
            nopal::scope inner;
            inner.fork([] {
              be_stolen();
              throw std::runtime_error("within");
            });
            be_stolen();
            inner.join();
          },
          std::runtime_error);
      expect_rounding(FE_TONEAREST, 1);
      try {
        throw std::runtime_error("handled");
      } catch (const std::runtime_error&) {
        const nopal::floating_point guard{FE_DOWNWARD}; // and amid an exception
        expect_rounding(FE_DOWNWARD, 1);
        EXPECT_NE(std::current_exception(), nullptr);
      }
      expect_rounding(FE_TONEAREST, 1);
    });
    s.join();
  }
}

TEST(floating_point, a_guard_changes_whatever_its_function_sets) {
  nopal::scope s;
  s.fork([] {
    const nopal::floating_point guard{[] { _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); }};
    be_stolen();
    EXPECT_NE(_MM_GET_FLUSH_ZERO_MODE(), 0u);
  });
  s.join();
  EXPECT_EQ(_MM_GET_FLUSH_ZERO_MODE(), 0u);
}

TEST(floating_point, a_guard_leaves_the_status_flags_alone) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const nopal::floating_point guard{FE_UPWARD};
    third_of(1);
  }
  EXPECT_NE(std::fetestexcept(FE_INEXACT), 0);
}

class floating_point_death : public death {};

TEST_F(floating_point_death, a_number_that_is_no_rounding_mode) {
  EXPECT_EXIT(
      { const nopal::floating_point guard{77}; },
      testing::ExitedWithCode(nopal::base::exit_status_died),
      "^nopal: a nopal::floating_point guard was given 77, which is no rounding mode; "
      "accepted are FE_TONEAREST, FE_UPWARD, FE_DOWNWARD and FE_TOWARDZERO\n$");
}

#if defined(NOPAL_CHECKS)
// What a library does that sets the words, calls back and restores them.
[[gnu::noinline]] void library(void (*callback)()) {
  std::fesetround(FE_UPWARD);
  callback();
  std::fesetround(FE_TONEAREST);
}

TEST_F(floating_point_death, a_callback_forks_where_a_library_has_changed_the_words) {
  EXPECT_EXIT(
      {
        nopal::scope s;
        s.fork([] { library(be_stolen); });
        s.join();
      },
      testing::ExitedWithCode(nopal::base::exit_status_died),
      "nopal: the floating-point control words .* changed before a fork, .* "
      "nopal::floating_point guard");
}
#endif

} // namespace nopal_test
