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
#include "nopal/sched/step.h"
#include "nopal/sync/choice.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

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
bool park_or_stop(sync::choice& waits, signal (*enqueue)(fiber*, void*),
                  void (*withdraw)(fiber*, void*), void* argument) noexcept;
template <class Enqueue, class Withdraw>
bool park_or_stop(Enqueue enqueue, Withdraw withdraw) noexcept {
  struct both {
    Enqueue enqueue;
    Withdraw withdraw;
  } given{enqueue, withdraw};
  sync::choice waits;
  return park_or_stop(
      waits, [](fiber* strand, void* one) { return static_cast<both*>(one)->enqueue(strand); },
      [](fiber* strand, void* one) { static_cast<both*>(one)->withdraw(strand); }, &given);
}

// A strand stays ready, but lets others go first: those that are ready here. Nothing happens if
// none is. If its turn has ended it lets go first also those that become ready here before its
// vproc has nothing else to do.
void give_way() noexcept;
void end_turn() noexcept;

// Resumes the strand, and does not return; or returns, because the strand's stack is being
// reclaimed, and the reclaimer will resume the strand. `self` has no stack, or an empty one.
void run(worker* self, fiber* strand) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
