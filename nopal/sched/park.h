// SPDX-License-Identifier: MIT
// How a strand waits for something else than its children: a mutex, a condition (vproc/fiber.h).
//
// Such a strand stops anywhere, with open forks above it on its stack perhaps. Without any it takes
// its stack along and nothing else. With some it takes the worker along, in whose deque they are;
// thieves find that among the suspended ones.
//
// A pool thread resumes any fiber that is ready, a thread that waits for its group only those of
// that group. A thread that runs no strands waits itself.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/fiber.h"
#include "nopal/vproc/suspended.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

using vproc::fiber;
using vproc::group;
using vproc::signal;

// Comes back, perhaps on another thread, when the fiber that `enqueue` is given is entered: after
// make_ready, or at once if enqueue says so (vproc/fiber.h). On a thread that runs no strands,
// enqueue answers `stop`, or to enter that fiber.
void park(signal (*enqueue)(fiber*, void*), void* argument) noexcept;
template <class Enqueue> void park(Enqueue enqueue) noexcept {
  park([](fiber* strand, void* one) { return (*static_cast<Enqueue*>(one))(strand); }, &enqueue);
}

// The same, for a strand that stops waiting when it is cancelled, unless an exception unwinds it.
// True: it was woken, by who has claimed it (fiber::claim, or `waits`). False: it is to stop;
// `withdraw` has removed it from where it was put, if it is there.
bool park_or_stop(vproc::choice& waits, signal (*enqueue)(fiber*, void*),
                  void (*withdraw)(fiber*, void*), void* argument) noexcept;
template <class Enqueue, class Withdraw>
bool park_or_stop(Enqueue enqueue, Withdraw withdraw) noexcept {
  struct both {
    Enqueue enqueue;
    Withdraw withdraw;
  } given{enqueue, withdraw};
  vproc::choice waits;
  return park_or_stop(
      waits, [](fiber* strand, void* one) { return static_cast<both*>(one)->enqueue(strand); },
      [](fiber* strand, void* one) { static_cast<both*>(one)->withdraw(strand); }, &given);
}

// Any thread, after something was cancelled: wakes the strands that wait and are to stop.
void wake_cancelled() noexcept;

// A strand stays ready, but lets others go first: those that are ready here. Nothing happens if
// none is. If its turn has ended it lets go first also those that become ready here before its
// vproc has nothing else to do.
void give_way() noexcept;
void end_turn() noexcept;

// Any thread, once for each time that it was parked.
void make_ready(fiber* strand) noexcept;

// For find_work: takes the fiber that has been ready longest, of those that are to run here alone,
// or else of those that this vproc made ready itself, or else of those that all share; null: there
// is none. And whether there is one.
fiber* take_ready(vproc::vproc* here) noexcept;
bool any_ready(vproc::vproc* here) noexcept;
// The same of this group alone, of those that all share.
bool any_ready_of(const group* wanted) noexcept;
// Any thread: how many are ready that this vproc might run. It may be wrong.
std::uint32_t seem_ready(const vproc::vproc* of) noexcept;

// For a thief: a fiber that another vproc keeps. One that is about to run it should do so, and most
// are, where fibers talk to one another; so the thief takes it only if that vproc has not turned to
// its fibers since it looked before.
struct ready_seen {
  bool there = false;
  std::uint32_t turns = 0;
};
fiber* steal_ready(vproc::vproc* here, ready_seen& before) noexcept;
// Before the vproc may not run any fiber: what it keeps is everybody's.
void share_ready(vproc::vproc* here) noexcept;

// The workers that waiting strands have left with open forks.
extern vproc::suspended_workers<vproc::worker> suspended;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
