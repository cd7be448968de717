// SPDX-License-Identifier: MIT
// A small program that is cancelled, or throws, at each of its points in turn.
#include "nopal/cancelable.h"
#include "tests/api/watched_program.h"

namespace nopal_test {
namespace {

TEST(every_point, is_passed_once) {
  watched_program program{[](int) {}};
  EXPECT_EQ(program.run(), whole_result);
  EXPECT_EQ(program.passed_in_all(), points);
  program.expect_released();
}

// At each pair of points the serially first exception arrives, and all before it has been done.
TEST(every_point, throws_what_the_elision_throws) {
  for (int first = 0; first < points; ++first)
    for (int second = first; second < points; ++second) {
      watched_program program{[=](int number) {
        if (number == first || number == second)
          throw number;
      }};
      int caught = -1;
      try {
        program.run();
      } catch (int thrown) {
        caught = thrown;
      }
      EXPECT_EQ(caught, first) << "the other one is " << second;
      for (int i = 0; i < points; ++i)
        EXPECT_LE(program.passed(i), 1) << i;
      for (int i = 0; i <= first; ++i)
        EXPECT_EQ(program.passed(i), 1) << i;
      program.expect_released();
    }
}

// The program cancels itself at a point, and goes on until its next fork, join or piece of a loop.
TEST(every_point, may_be_where_it_is_cancelled) {
  for (int cancelled_at = 0; cancelled_at < points; ++cancelled_at) {
    nopal::cancel_scope region;
    watched_program program{[&](int number) {
      if (number == cancelled_at)
        region.cancel();
    }};
    long result = -1;
    region.fork(result, [&] { return program.run(); });
    const bool complete = region.try_join();
    EXPECT_EQ(result, complete ? whole_result : -1) << cancelled_at;
    EXPECT_EQ(program.passed(cancelled_at), 1);
    for (int i = 0; i < points; ++i)
      EXPECT_LE(program.passed(i), 1) << i;
    if (cancelled_at <= last_before_a_fork) {
      EXPECT_FALSE(complete) << cancelled_at;
    }
    program.expect_released();
  }
}

// The same, with an exception at each other point: only that exception, or none, may arrive.
TEST(every_point, may_throw_while_it_is_cancelled) {
  for (int cancelled_at = 0; cancelled_at < points; ++cancelled_at)
    for (int thrown_at = 0; thrown_at < points; ++thrown_at) {
      nopal::cancel_scope region;
      watched_program program{[&](int number) {
        if (number == cancelled_at)
          region.cancel();
        if (number == thrown_at)
          throw number;
      }};
      long result = -1;
      region.fork(result, [&] { return program.run(); });
      try {
        EXPECT_FALSE(region.try_join()) << cancelled_at << ", " << thrown_at;
      } catch (int thrown) {
        EXPECT_EQ(thrown, thrown_at);
        EXPECT_EQ(program.passed(thrown_at), 1);
      }
      EXPECT_EQ(result, -1);
      program.expect_released();
    }
}

} // namespace
} // namespace nopal_test
