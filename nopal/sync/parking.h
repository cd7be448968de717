// SPDX-License-Identifier: MIT
// Where a thread without work sleeps, and how it is found and woken. The protocol with the
// publishers of work is in README.md.
//
// Roles:     sleeper   the thread itself: announce, then cancel or wait
//            waker     any thread: wake
// States:    awake --announce--> parked --wake--> notified --wait/cancel--> awake
//                                parked --cancel--> awake
//                                parked --wait--> waiting --wake--> notified --> awake
//                                parked --watch--> watching --wake--> notified --> awake
//                                watching --an event--> awake
// Contract:  what a waker wrote before the `wake` that ended a sleep is seen after that sleep's
//            `wait`, or its `cancel` that came too late. The waker needs no fence for it.
// Invariant: asleep >= number of places in state parked, waiting or watching; equal once no
//            operation is under way. A place in state watching is that of the thread that has the
//            watch. The threads of places in these two last states count as waiting
//            (waiting_threads.h), with what that header allows.
// Orders:
//   F  announce: full fence after the place is parked and counted. Partner: W.
//   W  publish: full fence in `anybody_asleep`. Partner: F. The sleeper's last look for work
//      and the publisher's look for sleepers cannot both miss. The operations on either side of
//      the two fences are relaxed, or acquire and release for other reasons.
//   P  announce: store release, after the fetch_add. Partner: the acquire of N, before the
//      fetch_sub. So no place is counted out before it was counted in, which would hide another
//      sleeper.
//   N  wake: CAS acq_rel. Its acquire is the partner of P, its release that of E.
//   E  end of a sleep: load acquire in wait, failing CAS acquire in cancel. Partner: the release
//      of N. This is the contract. A cancel that succeeds reads the sleeper's own store and needs
//      no order. The same holds for the exchanges of `settle` and the one after a watch.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/sync/waiting_threads.h"
#include "nopal/sync/watch.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// The numbers of threads asleep, and of unbound threads that look for work, of all vprocs.
struct alignas(64) idle_count {
  base::atomic<std::uint32_t> asleep{0};
  base::atomic<std::uint32_t> searching{0};
  base::atomic<watch*> events{nullptr}; // set once, if ever
  waiting_threads waiting;              // at parking places, and others of Nopal's

  // Whether a publisher must wake a sleeper, after it made work visible. It need not if a thread is
  // searching: that one looks once more after it has said that it stops.
  bool wants_wake() noexcept { return anybody_asleep() && searching.load(base::relaxed) == 0; }
  // The same without a fence, for a caller that has another reason not to miss a sleeper.
  bool may_want_wake() const noexcept {
    return asleep.load(base::relaxed) != 0 && searching.load(base::relaxed) == 0;
  }
  bool anybody_asleep() noexcept {
    base::full_fence(); // W
    return asleep.load(base::relaxed) != 0;
  }
};

class parking_place {
public:
  void announce(idle_count& count) noexcept {
    count.asleep.fetch_add(1, base::relaxed);
    state_.store(parked, base::release); // P
    base::full_fence();                  // F
  }

  // The sleeper found something after all.
  void cancel(idle_count& count) noexcept { get_up(count, parked); }

  // `until` returns when it is to be called again, at the latest.
  template <class Until> void wait(idle_count& count, Until until) noexcept {
    if (settle(count, waiting))
      while (state_.load(base::acquire) == waiting) // E
        base::futex_wait_until(state_, waiting, until());
    state_.store(awake, base::relaxed);
  }

  // Instead of `wait`: the thread waits for events, too. It has the watch.
  template <class Until> void wait_for(watch& events, idle_count& count, Until until) noexcept {
    if (settle(count, watching)) {
      while (!events.call.wait(until())) {
      }
    }
    get_up(count, watching);
  }

  // True: it slept (or was about to) and is being woken by this call.
  bool wake(idle_count& count) noexcept {
    std::uint32_t seen = state_.load(base::relaxed);
    for (;;) {
      const bool waits = seen == waiting || seen == watching;
      if (seen != parked && !waits)
        return false;
      if (waits) // before it is woken: then it may soon count itself in anew
        count.waiting.count_out();
      if (state_.compare_exchange_strong(seen, notified, base::acq_rel, base::relaxed)) // N
        break;
      if (waits) // another one has woken it
        count.waiting.count_in();
    }
    count.asleep.fetch_sub(1, base::relaxed);
    if (seen == watching)
      count.events.load(base::relaxed)->call.interrupt();
    else
      base::futex_wake_one(state_);
    return true;
  }

private:
  enum : std::uint32_t { awake, parked, waiting, watching, notified };

  // The thread has looked for work in vain: from now on it does nothing before it is woken. False:
  // it is being woken.
  bool settle(idle_count& count, std::uint32_t as) noexcept {
    std::uint32_t expected = parked;
    if (!state_.compare_exchange_strong(expected, as, base::acquire, base::acquire)) // E
      return false;
    count.waiting.count_in();
    return true;
  }

  // As a waker, the thread counts itself out first.
  void get_up(idle_count& count, std::uint32_t from) noexcept {
    const bool waits = from == watching;
    if (waits)
      count.waiting.count_out();
    if (state_.compare_exchange_strong(from, awake, base::acquire, base::acquire)) { // E
      count.asleep.fetch_sub(1, base::relaxed);
      return;
    }
    state_.store(awake, base::relaxed);
    if (waits) // its waker did, too
      count.waiting.count_in();
  }

  base::atomic<std::uint32_t> state_{awake};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
