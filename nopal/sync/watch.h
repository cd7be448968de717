// SPDX-License-Identifier: MIT
// How threads without work wait for the system: one of them watches for events, which make fibers
// ready (nopal/io), and the others sleep. A program that watches for nothing has no watch.
//
// Roles:     watcher   the one thread that has taken the watch; it waits for events instead of
//                      sleeping at its parking place (parking.h), and a waker interrupts it there
// Contract:  an interrupt that comes while a thread has the watch ends that thread's wait, also if
//            it comes before; one that comes too late ends a later wait early, which does no harm.
// Invariant: a thread that sleeps has seen the watch taken. One that leaves it looks for sleepers
//            before it runs anything else, and wakes one to take the watch (sched/idle.cc).
// Orders:
//   T  take: exchange acquire, after the fence F of parking.h. Partner: L.
//   L  leave: store release, then the fence W of parking.h, before the look for sleepers. Of a
//      sleeper that announces, fences and finds the watch taken, and a watcher that leaves, fences
//      and looks for sleepers, one sees the other. T after L: the next watcher may use the events'
//      buffer.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

class watch {
public:
  struct calls {
    // For events, or an interrupt; the watcher alone. False: this time of the steady clock, in
    // nanoseconds, came first.
    bool (*wait)(std::int64_t until_ns) noexcept;
    void (*interrupt)() noexcept; // any thread
    void (*deliver)() noexcept;   // makes ready those whose events `wait` has found; the watcher
    void (*look)() noexcept;      // does both for events that are there already; any thread
    bool (*awaited)() noexcept;   // whether a strand waits for an event; any thread
  };
  explicit watch(const calls& made_of) noexcept : call{made_of} {}

  bool take() noexcept { return !taken() && taken_.exchange(1, base::acquire) == 0; } // T
  void leave() noexcept { taken_.store(0, base::release); }                           // L
  bool taken() const noexcept { return taken_.load(base::relaxed) != 0; }

  const calls call;

private:
  base::atomic<std::uint32_t> taken_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
