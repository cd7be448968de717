// SPDX-License-Identifier: MIT
// A mutex and a condition variable that belong to strands.
//
//     nopal::mutex m;
//     {
//       std::lock_guard guard{m};
//       nopal::for_index(...);        // may end on another thread: this strand still has the lock
//     }
//
// A strand that waits is suspended, with its stack; its thread runs other strands, and it may go on
// on another one. So a lock can be held across forks and joins. A child that locks what its parent
// holds waits for ever. Both work like std::timed_mutex and std::condition_variable, with
// std::lock_guard, scoped_lock and unique_lock. First come, first served: `unlock` hands the mutex
// to the strand that has waited longest.
//
// Thread rules: any thread, any strand. To be destroyed when no strand waits.
// NOPAL_SERIAL: they do nothing. A wait for what does not hold already ends the program.
#pragma once

#include "nopal/config.h"
#include "nopal/deadline.h"

#if defined(NOPAL_SERIAL)
#include <cstdio>
#include <cstdlib>
#else
#include "nopal/fibers/waits.h"
#include "nopal/sched/stop.h"
#endif

#include <mutex>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI {

#if defined(NOPAL_SERIAL)
/// A mutex of strands: as std::timed_mutex, but held by a strand, across forks and joins.
/// @pre No strand waits for a mutex that is destroyed.
/// @throws cancelled from each lock and try_lock, without the mutex, if the strand is cancelled.
/// @par Threads
/// Any thread, any strand.
class NOPAL_TYPE mutex {
public:
  void lock() noexcept {}
  bool try_lock() noexcept { return true; }
  template <class Time> bool try_lock_for(const Time&) noexcept { return true; }
  template <class Time> bool try_lock_until(const Time&) noexcept { return true; }
  void unlock() noexcept {}
};

/// A condition variable of strands: as std::condition_variable.
/// @pre No strand waits for one that is destroyed.
/// @throws cancelled from `wait`, with the mutex, if the strand is cancelled while it waits.
/// @par Threads
/// Any thread, any strand.
class NOPAL_TYPE condition_variable {
public:
  void notify_one() noexcept {}
  void notify_all() noexcept {}
  [[noreturn]] void wait(std::unique_lock<mutex>&) {
    std::fputs("nopal: the serial elision waits for a condition that nobody can fulfil\n", stderr);
    std::exit(70);
  }
  template <class Condition> void wait(std::unique_lock<mutex>& lock, Condition holds) {
    if (!holds())
      wait(lock);
  }
  template <class Time, class Condition>
  bool wait_for(std::unique_lock<mutex>&, const Time&, Condition holds) {
    return holds(); // no other strand could make it true
  }
  template <class Time, class Condition>
  bool wait_until(std::unique_lock<mutex>&, const Time&, Condition holds) {
    return holds();
  }
};
#else
class NOPAL_TYPE mutex {
public:
  /// Both throw `cancelled`, without the mutex, if the strand is cancelled (cancel.h).
  void lock() {
    if (!try_lock())
      fibers::wait_for(state_, sync::wanted::mutex);
  }
  bool try_lock() {
    sched::stop_point();
    return state_.try_hold();
  }
  /// False: it was held by others for so long, or until that time; as try_lock if that is no time.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& at_most) {
    return try_lock() || fibers::wait_for(state_, sync::wanted::mutex, detail::after(at_most));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& until) {
    return try_lock() || detail::wait_until(until, [this](fibers::time_point end) {
             return fibers::wait_for(state_, sync::wanted::mutex, end);
           });
  }
  void unlock() noexcept {
    if (!state_.try_free())
      fibers::hand_over(state_);
  }

private:
  friend class condition_variable;

  fibers::mutex_state state_; // it cannot be copied, and so no mutex can
};

class NOPAL_TYPE condition_variable {
public:
  void notify_one() noexcept { fibers::notify_one(state_); }
  void notify_all() noexcept { fibers::notify_all(state_); }
  /// The strand holds the mutex before and after. There are no spurious wake-ups, but the condition
  /// may have changed again. Throws `cancelled`, with the mutex, if the strand is cancelled.
  void wait(std::unique_lock<mutex>& lock) { fibers::wait_for(state_, lock.mutex()->state_); }
  template <class Condition> void wait(std::unique_lock<mutex>& lock, Condition holds) {
    while (!holds())
      wait(lock);
  }
  /// Whether the condition holds at the end; the wait ends when it does, or at that time.
  template <class Clock, class Duration, class Condition>
  bool wait_until(std::unique_lock<mutex>& lock,
                  const std::chrono::time_point<Clock, Duration>& until, Condition holds) {
    detail::end_time<Clock, Duration> end{until};
    while (!holds())
      if (!fibers::wait_for(state_, lock.mutex()->state_, end.look_at()) && end.has_come())
        return holds();
    return true;
  }
  template <class Rep, class Period, class Condition>
  bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& at_most,
                Condition holds) {
    return wait_until(lock, detail::steady::time_point{detail::after(at_most)}, std::move(holds));
  }

private:
  fibers::condition_state state_;
};
#endif

} // namespace nopal::inline NOPAL_ABI
NOPAL_HIDDEN_END
