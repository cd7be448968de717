// SPDX-License-Identifier: MIT
// A semaphore of strands: so many at a time.
//
//     nopal::semaphore permits{8};
//     permits.acquire();                 // waits while 8 others have one
//     auto reply = nopal::blocking(ask); // 8 threads block at most
//     permits.release();
//
// A strand waits as for a mutex. First come, first served.
//
// Thread rules: any thread, any strand. To be destroyed when no strand waits.
// NOPAL_SERIAL: it counts; to wait for what nobody can release ends the program.
#pragma once

#include "nopal/config.h"
#include "nopal/deadline.h"

#if defined(NOPAL_SERIAL)
#include <cstdio>
#include <cstdlib>
#else
#include "nopal/base/check.h"
#include "nopal/fibers/waits.h"
#include "nopal/sched/stop.h"
#endif

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

/// As std::counting_semaphore: `acquire` takes one permit, `release` gives some back, also by
/// another strand than the one that took them.
/// @pre No strand waits for one that is destroyed. Checked: no count is negative.
/// @throws cancelled, without a permit, if the strand is cancelled.
/// @par Threads
/// Any thread, any strand.
class NOPAL_TYPE semaphore {
public:
#if defined(NOPAL_SERIAL)
  explicit semaphore(std::ptrdiff_t permits) noexcept : free_{permits} {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  void acquire() {
    if (try_acquire())
      return;
    std::fputs("nopal: the serial elision waits for a semaphore that nobody can release\n", stderr);
    std::exit(70);
  }
  bool try_acquire() noexcept { return free_ > 0 && free_-- > 0; }
  template <class Time> bool try_acquire_for(const Time&) noexcept { return try_acquire(); }
  template <class Time> bool try_acquire_until(const Time&) noexcept { return try_acquire(); }
  void release(std::ptrdiff_t permits = 1) noexcept { free_ += permits; }

private:
  std::ptrdiff_t free_;
#else
  explicit semaphore(std::ptrdiff_t permits) noexcept : state_{counted(permits)} {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  void acquire() {
    if (!try_acquire())
      fibers::wait_for(state_, sync::wanted::semaphore);
  }
  bool try_acquire() {
    sched::stop_point();
    return state_.try_hold();
  }
  /// False: there was none for so long, or until that time; as try_acquire if that is no time.
  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_acquire() ||
           fibers::wait_for(state_, sync::wanted::semaphore, detail::after(at_most));
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& until) {
    return try_acquire() || detail::wait_until(until, [this](fibers::time_point end) {
             return fibers::wait_for(state_, sync::wanted::semaphore, end);
           });
  }
  void release(std::ptrdiff_t permits = 1) noexcept { fibers::release(state_, counted(permits)); }

private:
  static fibers::semaphore_state::count counted(std::ptrdiff_t permits) noexcept {
    NOPAL_ASSERT(permits >= 0, "a nopal::semaphore was given %td permits, but it takes 0 or more",
                 permits);
    return static_cast<fibers::semaphore_state::count>(permits);
  }

  fibers::semaphore_state state_;
#endif
};

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
