// SPDX-License-Identifier: MIT
// Deadlines of every unit and every clock, also those that the steady clock cannot count.
#pragma once

#include "nopal/cancel.h"
#include "tests/patience.h"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <limits>
#include <ratio>
#include <thread>

namespace nopal_test {

using namespace std::chrono_literals;
using std::chrono::duration;
using std::chrono::steady_clock;
using std::chrono::system_clock;

// Returns when each alarm that is due has rung. The alarms' thread rings them in the order of their
// times, and the alarm of `witness` is due behind all that were due before.
inline void let_due_alarms_ring() {
#if !defined(NOPAL_SERIAL) // there a scope looks at its deadline when it forks
  const nopal::cancel_scope witness{steady_clock::now()};
  const auto end = steady_clock::now() + patience;
  while (!witness.cancelled() && steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_TRUE(witness.cancelled()) << "no alarm rings";
#endif
}

// Whether a scope with this deadline skips its child, now that the deadline has rung, if it is due.
template <class Deadline> bool has_passed(Deadline deadline) {
  nopal::cancel_scope s{deadline};
  let_due_alarms_ring();
  bool ran = false;
  s.fork(ran, [] { return true; });
  const bool complete = s.try_join();
  EXPECT_NE(complete, s.cancelled());
  EXPECT_EQ(complete, ran);
  return !ran;
}
template <class Deadline> bool never_comes(Deadline deadline) { return !has_passed(deadline); }

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(deadline, is_a_reason_of_its_own) {
  nopal::cancel_scope s{0s};
  let_due_alarms_ring();
  s.fork([] {});
  EXPECT_FALSE(s.try_join());
  EXPECT_THROW(std::rethrow_exception(s.reason()), nopal::deadline_passed);
}

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
  EXPECT_TRUE(never_comes(2562047h)); // the clock counts 2,562,047 hours, but not from now on
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

// A clock that counts from 1601: its time has more nanoseconds than 64 bits hold.
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
  const duration<double> not_a_number{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EXIT(nopal::cancel_scope{not_a_number}, testing::ExitedWithCode(70),
              "nopal: a deadline or a timeout is NaN, but it must be a number");
}

} // namespace nopal_test
