// SPDX-License-Identifier: MIT
// Deadlines of every unit and every clock, also those that the steady clock cannot count.
#pragma once

#include "nopal/cancel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <ratio>
#include <thread>

namespace nopal_test {

using namespace std::chrono_literals;
using std::chrono::duration;
using std::chrono::steady_clock;
using std::chrono::system_clock;

// Whether a scope with a deadline that has passed, if it is to pass, skips its child. One that
// passes by mistake has had time to do so.
template <class Deadline> bool skips(Deadline deadline, bool passes) {
  nopal::cancel_scope s{deadline};
  for (int i = 0; passes ? !s.cancelled() && i < 10'000 : i < 3; ++i) {
#if defined(NOPAL_SERIAL)
    break; // it looks where it forks
#endif
    std::this_thread::sleep_for(1ms);
  }
  bool ran = false;
  s.fork(ran, [] { return true; });
  const bool complete = s.try_join();
  EXPECT_NE(complete, s.cancelled());
  EXPECT_EQ(complete, ran);
  return !ran;
}
template <class Deadline> bool never_comes(Deadline deadline) { return !skips(deadline, false); }
template <class Deadline> bool has_passed(Deadline deadline) { return skips(deadline, true); }

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(deadline, beyond_what_the_clock_counts_never_comes) {
  EXPECT_TRUE(never_comes(std::chrono::nanoseconds::max()));
  EXPECT_TRUE(never_comes(std::chrono::milliseconds::max()));
  EXPECT_TRUE(never_comes(std::chrono::hours::max()));
  EXPECT_TRUE(never_comes(std::chrono::years::max()));
  EXPECT_TRUE(never_comes(duration<unsigned long, std::milli>::max()));
  EXPECT_TRUE(never_comes(duration<float>(1e30f)));
  EXPECT_TRUE(never_comes(duration<double>(1e300)));
  EXPECT_TRUE(never_comes(duration<double>(infinity)));
  EXPECT_TRUE(never_comes(duration<long, std::exa>(1)));
  EXPECT_TRUE(never_comes(steady_clock::time_point::max()));
  EXPECT_TRUE(never_comes(steady_clock::time_point::max() - 1ns));
  EXPECT_TRUE(never_comes(system_clock::time_point::max()));
}

TEST(deadline, in_the_future_is_kept_in_every_unit) {
  EXPECT_TRUE(never_comes(2562047h)); // the clock counts so many hours, but not from now on
  EXPECT_TRUE(never_comes(duration<int, std::ratio<1, 3>>(3000)));
  EXPECT_TRUE(never_comes(duration<signed char>(100)));
  EXPECT_TRUE(never_comes(steady_clock::now() + duration<double>(1000)));
  EXPECT_TRUE(never_comes(system_clock::now() + 1h));
}

TEST(deadline, of_the_past_has_passed) {
  EXPECT_TRUE(has_passed(0s));
  EXPECT_TRUE(has_passed(-1ns));
  EXPECT_TRUE(has_passed(std::chrono::nanoseconds::min()));
  EXPECT_TRUE(has_passed(std::chrono::milliseconds::min()));
  EXPECT_TRUE(has_passed(std::chrono::hours::min()));
  EXPECT_TRUE(has_passed(duration<double>(-1e300)));
  EXPECT_TRUE(has_passed(duration<double>(-infinity)));
  EXPECT_TRUE(has_passed(duration<double, std::nano>(0.25)));
  EXPECT_TRUE(has_passed(steady_clock::time_point::min()));
  EXPECT_TRUE(has_passed(steady_clock::time_point{}));
  EXPECT_TRUE(has_passed(system_clock::time_point::min()));
  EXPECT_TRUE(has_passed(system_clock::now() - 1h));
}

// Counts from 1601, so more nanoseconds than 64 bits hold.
struct clock_of_files {
  using duration = std::chrono::duration<long, std::ratio<1, 10'000'000>>;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock_of_files>;
  static constexpr bool is_steady = false;

  static time_point now() {
    const auto since_1970 = system_clock::now().time_since_epoch();
    return time_point{std::chrono::duration_cast<duration>(since_1970) + 134'774 * 24h};
  }
};

TEST(deadline, of_a_clock_that_began_long_ago) {
  EXPECT_TRUE(never_comes(clock_of_files::now() + 1h));
  EXPECT_TRUE(never_comes(clock_of_files::time_point::max()));
  EXPECT_TRUE(has_passed(clock_of_files::now() - 1h));
  EXPECT_TRUE(has_passed(clock_of_files::time_point{}));
  EXPECT_TRUE(has_passed(clock_of_files::time_point::min()));
}

TEST(deadline, that_is_no_number_ends_the_program_with_a_sentence) {
  const duration<double> none{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EXIT(nopal::cancel_scope{none}, testing::ExitedWithCode(70),
              "nopal: a deadline or a timeout is NaN, but it must be a number");
}

} // namespace nopal_test
