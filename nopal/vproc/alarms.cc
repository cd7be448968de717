// SPDX-License-Identifier: MIT
// The alarms' thread.
#include "nopal/vproc/alarms.h"

#include "nopal/base/os.h"
#include "nopal/base/spin_lock.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/wake.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::vproc {

struct alarm_thread {
  base::spin_lock lock; // guards the next three
  alarm::table set;
  bool sleeps = false;  // the thread rings none, and does nothing before the first is due
  bool counted = false; // as one that waits until it is woken
  base::atomic<std::uint32_t> changes{0}; // of the earliest alarm; the thread waits for one
  base::atomic<bool> started{false};

  // Never destroyed: the thread uses it as long as the process lives.
  static alarm_thread& only_thread() {
    static auto* const thread = new alarm_thread;
    return *thread;
  }

  void add(alarm* added, alarm::clock::time_point at) {
    bool first = false;
    {
      const base::locked guard{lock};
      first = set.add(at, added);
      recount();
      if (first)
        changes.store(changes.load(base::relaxed) + 1, base::relaxed);
    }
    if (!started.load(base::relaxed) && !started.exchange(true, base::relaxed))
      start_helper([](void*) noexcept -> void* { only_thread().run(); },
                   "watches deadlines and timeouts");
    else if (first)
      base::futex_wake_one(changes);
  }

  // With the lock. Without an alarm the thread waits until there is one.
  void recount() noexcept {
    const bool waits = sleeps && set.empty();
    if (waits == std::exchange(counted, waits))
      return;
    if (waits)
      idle.waiting.count_in();
    else
      idle.waiting.count_out();
  }

  // The next alarm that is due, which is ringing now. Null: none is; waits for a change or until
  // the next one is due.
  alarm* next() noexcept {
    alarm::clock::time_point until = alarm::clock::time_point::max();
    std::uint32_t seen = 0;
    {
      const base::locked guard{lock};
      sleeps = false;
      recount();
      if (!set.empty() && (until = set.earliest()) <= alarm::clock::now()) {
        alarm* const due = set.take_earliest();
        due->place.store(alarm::ringing, base::relaxed);
        return due;
      }
      seen = changes.load(base::relaxed);
      sleeps = true;
      recount();
    }
    base::futex_wait_until(changes, seen, until.time_since_epoch().count());
    return nullptr;
  }

  [[noreturn]] void run() noexcept {
    for (;;)
      if (alarm* const due = next())
        due->ring_(due);
  }
};

void alarm::set(clock::time_point at) { alarm_thread::only_thread().add(this, at); }

void alarm::reset_slow() noexcept {
  {
    alarm_thread& thread = alarm_thread::only_thread();
    const base::locked guard{thread.lock};
    const std::uint32_t now = place.load(base::relaxed);
    if (now != ringing && now != table::absent) {
      thread.set.remove(this);
      thread.recount();
    }
  }
  for (unsigned tries = 1; place.load(base::acquire) != table::absent; ++tries) // R
    base::wait_briefly(tries);
}

// A strand that was claimed does not go on before it is made ready.
void timed_wait::wake(alarm* due) noexcept {
  auto* const wait = static_cast<timed_wait*>(due);
  fiber* const strand = wait->strand_;
  const bool claimed = wait->decided_.claim(wait->number_);
  wait->rung();
  if (claimed)
    make_ready(strand);
}

} // namespace nopal::inline NOPAL_ABI::vproc
