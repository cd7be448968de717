// SPDX-License-Identifier: MIT
// A strand sleeps: its thread runs others meanwhile.
//
//     nopal::sleep_for(std::chrono::milliseconds(5));
//
// A million strands may sleep; one thread keeps their times. Compiled with NOPAL_SERIAL the thread
// sleeps.
#pragma once

#include "nopal/config.h"
#include "nopal/deadline.h"

#if defined(NOPAL_SERIAL)
#include <thread>
#else
#include "nopal/fibers/waits.h"
#endif

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// The calling strand goes on at that time, or as soon after as a thread has time for it. If the
/// time has come it yields.
/// @throws cancelled if the strand is cancelled meanwhile.
/// @par Threads
/// Any thread, any strand. A thread that runs no strands sleeps itself.
/// @par Cost
/// O(log n) where n strands wait for a time.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& until) {
#if defined(NOPAL_SERIAL)
  const auto sleep = [](detail::steady::time_point at) {
    std::this_thread::sleep_until(at);
    return false;
  };
#else
  const auto sleep = [](detail::steady::time_point at) {
    fibers::sleep_until(at);
    return false;
  };
#endif
  detail::wait_until(until, sleep);
}

/// The same after so long.
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& at_least) {
  nopal::sleep_until(detail::after(at_least));
}

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
