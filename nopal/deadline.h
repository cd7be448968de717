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
  return steady::time_point{
      sum(steady::now().time_since_epoch(), saturated(in_nanoseconds(given)))};
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

} // namespace nopal::inline NOPAL_ABI::detail
NOPAL_HIDDEN_END
