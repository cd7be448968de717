// SPDX-License-Identifier: MIT
// The alarms that are set (vproc/alarms.h), and how the thread that rings them sleeps. An Alarm has
// a member `base::atomic<std::uint32_t> place{absent}`, which belongs to the queue.
//
// Roles:     ringer  the one thread that calls `next`, rings what that returns, then calls `rung`
//            setter  any thread: add, then take_back
// Contract:  an alarm rings once for each `add`, and once more for each `again`, when it is due,
//            unless it was taken back before. After take_back it is not ringing, and does not ring.
// Invariant: (lock free)  an alarm is in the table, or it is ringing, or a setter has it; its place
//            says which, and turns from the table to `ringing` at once.
// Orders:
//   R  rung: store release, the last access to the alarm. Partner: the acquire load of is_set. So
//      the alarm may be destroyed once take_back has returned.
//   `changes_` is written and read under the lock. The ringer sleeps as long as it has the value
//   that it had when the ringer looked, so an earlier alarm that comes later ends that sleep.
#pragma once

#include "nopal/base/os.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/timetable.h"
#include "nopal/sync/waiting_threads.h"

#include <cstdint>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Clock, class Alarm> class alarm_queue {
  using time_point = typename Clock::time_point;
  using timetable = sync::timetable<time_point, Alarm>;

public:
  static constexpr std::uint32_t absent = timetable::absent;

  // `waiting` counts the ringer while it sleeps and no alarm is set: it does nothing before it is
  // woken. Null: the ringer is not counted.
  explicit alarm_queue(waiting_threads* waiting = nullptr) noexcept : waiting_{waiting} {}

  // Precondition: the alarm is not set.
  void add(time_point at, Alarm* added) {
    bool first = false;
    {
      const base::locked guard{lock_};
      first = table_.add(at, added);
      recount();
      if (first)
        changes_.store(changes_.load(base::relaxed) + 1, base::relaxed);
    }
    if (first)
      base::futex_wake_one(changes_);
  }
  // False: it need not be taken back.
  static bool is_set(const Alarm* asked) noexcept {
    return asked->place.load(base::acquire) != absent; // R
  }
  // An alarm that is ringing may be set again; then it is found in the table.
  void take_back(Alarm* unwanted) noexcept {
    for (unsigned tries = 1;; ++tries) {
      {
        const base::locked guard{lock_};
        const std::uint32_t now = unwanted->place.load(base::relaxed);
        if (now != ringing && now != absent)
          table_.remove(unwanted);
        recount();
      }
      if (!is_set(unwanted))
        return;
      base::wait_briefly(tries);
    }
  }

  // The earliest alarm, if it is due: it is ringing from now on. Else sleeps until that may have
  // changed, and returns null.
  Alarm* next() noexcept {
    time_point until = time_point::max();
    std::uint32_t seen = 0;
    {
      const base::locked guard{lock_};
      sleeps_ = false;
      recount();
      if (!table_.empty() && (until = table_.earliest()) <= Clock::now())
        return table_.take_earliest(ringing); // never `absent` before it has rung (is_set)
      seen = changes_.load(base::relaxed);
      sleeps_ = true;
      recount();
    }
    base::futex_wait_until(changes_, seen, until.time_since_epoch().count());
    return nullptr;
  }
  static void rung(Alarm* due) noexcept { due->place.store(absent, base::release); } // R
  // Instead of `rung`, as the ringer's last access to the alarm, too: it rings again at that time.
  // The ringer looks at the table before it sleeps, so nobody wakes it.
  void again(time_point at, Alarm* due) {
    const base::locked guard{lock_};
    table_.add(at, due);
    recount();
  }

private:
  static constexpr std::uint32_t ringing = absent - 1;

  // With the lock.
  void recount() noexcept {
    const bool waits = waiting_ != nullptr && sleeps_ && table_.empty();
    if (waits == std::exchange(counted_, waits))
      return;
    if (waits)
      waiting_->count_in();
    else
      waiting_->count_out();
  }

  waiting_threads* const waiting_;
  base::spin_lock lock_; // guards all fields below
  timetable table_;
  bool sleeps_ = false;
  bool counted_ = false;
  base::atomic<std::uint32_t> changes_{0}; // how often another alarm has become the earliest
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
