// SPDX-License-Identifier: MIT
// Alarms: what is to happen at a given time. One thread serves all of them; it begins at the first
// alarm and lives as long as the process. To set one and to take it back costs O(log n). The
// protocol is in sync/alarm_queue.h.
//
// A strand that waits until a time, or until something else happens before that:
//
//     sync::choice decided;
//     vproc::timed_wait until{decided, 7};   // 7: what decided.taken() is if the time comes first
//     sched::park_or_stop(decided, [&](fiber* strand) {
//       until.begin(strand, at);             // first: from now on the strand may be woken
//       ...                                  // and put it where others find it, if anywhere
//       return signal::stop();               // or, if it need not wait: until.end() and `enter`
//     }, withdraw);
//     until.end();                           // in any case, before `until` dies
//
// Where the time comes first, decided.taken() is 7, and the strand itself leaves the queue in which
// it still is; park_or_stop does that for choice::timed_out (fibers/timed.h). After `begin` others
// may wake the strand, so its frame is touched only under a lock that keeps it from going on.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/clock.h"
#include "nopal/config.h"
#include "nopal/sync/alarm_queue.h"
#include "nopal/sync/choice.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct fiber;

class alarm {
public:
  using clock = std::chrono::steady_clock;
  // Called on the alarms' thread, which serves no other alarm meanwhile: it must not wait for
  // anything. It calls `rung`, or ring_again, as its last access to the alarm.
  using ringer = void (*)(alarm*) noexcept;

  explicit alarm(ringer ring) noexcept : ring_{ring} {}
  alarm(const alarm&) = delete;
  alarm& operator=(const alarm&) = delete;

  // Precondition: it is not set.
  void set(clock::time_point at);
  // After that it does not ring, and is not ringing. It may be set again.
  void reset() noexcept {
    if (queue::is_set(this))
      reset_slow();
  }

protected:
  ~alarm() = default; // what is derived from it is reset before it is destroyed
  void rung() noexcept { queue::rung(this); }
  void ring_again(clock::time_point at); // instead of that

private:
  using queue = sync::alarm_queue<clock, alarm>;

  void reset_slow() noexcept;

  base::atomic<std::uint32_t> place{queue::absent};
  std::uint32_t set_in_ = 0; // the process in which it was set last
  const ringer ring_;

  friend queue;
  friend class sync::timetable<clock::time_point, alarm>;
  friend struct alarm_thread;
};

// Wakes a strand that waits, unless another waker was faster. It lies in the strand's frame.
class timed_wait : public alarm {
public:
  timed_wait(sync::choice& decided, std::uint32_t number) noexcept
      : alarm{wake}, decided_{decided}, number_{number} {}
  ~timed_wait() { end(); }

  // Called with the strand when it has parked.
  void begin(fiber* strand, clock::time_point at) {
    strand_ = strand;
    set(at);
  }
  void end() noexcept { reset(); }

private:
  static void wake(alarm* due) noexcept;

  sync::choice& decided_;
  const std::uint32_t number_;
  fiber* strand_ = nullptr;
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
