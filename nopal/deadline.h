// SPDX-License-Identifier: MIT
// Durations and points in time as those of the steady clock. What the clock cannot count is the
// last or the first time that it can: a deadline that never comes, or has passed.
#pragma once

#include "nopal/base/clock.h"
#include "nopal/config.h"

#include <cstdio>
#include <cstdlib>
#include <ratio>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::detail {

using steady = std::chrono::steady_clock;

inline constexpr steady::time_point never = steady::time_point::max();
inline constexpr steady::time_point passed = steady::time_point::min(); // no clock is asked

[[noreturn, gnu::cold, gnu::noinline]] inline void deadline_is_no_number() {
  std::fputs("nopal: a deadline or a timeout is NaN, but it must be a number of seconds, or of "
             "another unit; infinity is accepted\n",
             stderr);
  std::_Exit(70); // as base::die does, which the serial elision does without
}

// In long double, which holds every count of nanoseconds and of what is longer exactly.
using nanoseconds = std::chrono::duration<long double, std::nano>;

template <class Rep, class Period>
nanoseconds in_nanoseconds(const std::chrono::duration<Rep, Period>& given) {
  constexpr long double each = 1e9L * Period::num / Period::den;
  return nanoseconds{std::chrono::duration<long double, Period>(given).count() * each};
}

inline steady::duration saturated(nanoseconds given) {
  static_assert(std::is_same_v<steady::duration, std::chrono::nanoseconds>);
  const long double count = given.count();
  if (count != count)
    deadline_is_no_number();
  if (count >= static_cast<long double>(steady::duration::max().count()))
    return steady::duration::max();
  if (count <= static_cast<long double>(steady::duration::min().count()))
    return steady::duration::min();
  return steady::duration{static_cast<steady::rep>(count)};
}

inline steady::duration sum(steady::duration a, steady::duration b) noexcept {
  steady::rep all = 0;
  if (!__builtin_add_overflow(a.count(), b.count(), &all))
    return steady::duration{all};
  return a.count() > 0 ? steady::duration::max() : steady::duration::min();
}

template <class Rep, class Period>
steady::time_point after(const std::chrono::duration<Rep, Period>& given) {
  const steady::duration time = saturated(in_nanoseconds(given));
  return time <= steady::duration{}
             ? passed
             : steady::time_point{sum(steady::now().time_since_epoch(), time)};
}

// Another clock's time is what that clock has until then, from now on. It may count from a year so
// long ago that the steady clock could not.
template <class Clock, class Duration>
steady::time_point at(const std::chrono::time_point<Clock, Duration>& given) {
  const nanoseconds time = in_nanoseconds(given.time_since_epoch());
  if constexpr (std::is_same_v<Clock, steady>)
    return steady::time_point{saturated(time)};
  else if (given == std::chrono::time_point<Clock, Duration>::max())
    return never;
  else
    return after(time - in_nanoseconds(Clock::now().time_since_epoch()));
}

// A time of any clock, at which a wait or something else ends. The steady clock says when to look;
// another clock may be slower than that one, or be set back, and then it is looked at again.
template <class Clock, class Duration> class end_time {
public:
  explicit end_time(const std::chrono::time_point<Clock, Duration>& end) : end_{end} {}

  // When to look. A clock that stands still is looked at once a millisecond at most.
  steady::time_point look_at() {
    const steady::time_point next = at(end_);
    if (pause_ == steady::duration{} || next == never)
      return next;
    const steady::time_point earliest = after(pause_);
    return next < earliest ? earliest : next;
  }
  // Asked at that time.
  bool has_come() {
    if constexpr (std::is_same_v<Clock, steady>)
      return true;
    if (!(Clock::now() < end_))
      return true;
    constexpr std::chrono::microseconds first{1}, longest{1000};
    pause_ = pause_ == steady::duration{} ? first : pause_ * 2;
    pause_ = pause_ < longest ? pause_ : longest;
    return false;
  }

private:
  const std::chrono::time_point<Clock, Duration> end_;
  steady::duration pause_{}; // 0: it was looked at once at most
};

// Calls wait(time), which returns false where that time has come, until it returns true, or the
// clock says that the end has come.
template <class Clock, class Duration, class Wait>
bool wait_until(const std::chrono::time_point<Clock, Duration>& until, const Wait& wait) {
  end_time<Clock, Duration> end{until};
  do
    if (wait(end.look_at()))
      return true;
  while (!end.has_come());
  return false;
}

} // namespace nopal::inline NOPAL_ABI::detail
NOPAL_HIDDEN_END
