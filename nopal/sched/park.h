// SPDX-License-Identifier: MIT
// How a strand waits for something else than its children: a mutex, a condition (vproc/fiber.h).
//
// Such a strand may stop with open forks above it on its stack. Then it keeps the worker in whose
// deque they are, and thieves find that worker among the suspended. Without open forks it keeps its
// stack only.
//
// A pool thread resumes any fiber that is ready, a thread that waits for its group only those of
// that group. A thread that runs no strands waits itself.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"
#include "nopal/sync/choice.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Parks the calling strand, and calls `enqueue` with its fiber. Returns, perhaps on another thread,
// when the fiber is entered: after make_ready, or at once if enqueue says so (vproc/fiber.h). On a
// thread that runs no strands, enqueue answers `stop`, or to enter that fiber.
void park(signal (*enqueue)(fiber*, void*), void* argument) noexcept;
template <class Enqueue> void park(Enqueue enqueue) noexcept {
  park([](fiber* strand, void* call) { return (*static_cast<Enqueue*>(call))(strand); }, &enqueue);
}

// The same, for a strand that stops waiting when it is cancelled, or when an alarm wakes it.
// True: a waker has claimed it (fiber::claim, or `waits`). False: it is to stop, or has timed out,
// and `withdraw` has removed it from the queue where it still was. On a thread that runs no strands
// it is not cancelled.
bool park_or_stop(sync::choice& waits, signal (*enqueue)(fiber*, void*),
                  void (*withdraw)(fiber*, void*), void* argument) noexcept;
template <class Enqueue, class Withdraw>
bool park_or_stop(sync::choice& waits, Enqueue enqueue, Withdraw withdraw) noexcept {
  struct both {
    Enqueue enqueue;
    Withdraw withdraw;
  } calls{enqueue, withdraw};
  return park_or_stop(
      waits, [](fiber* strand, void* all) { return static_cast<both*>(all)->enqueue(strand); },
      [](fiber* strand, void* all) { static_cast<both*>(all)->withdraw(strand); }, &calls);
}
template <class Enqueue, class Withdraw>
bool park_or_stop(Enqueue enqueue, Withdraw withdraw) noexcept {
  sync::choice waits;
  return park_or_stop(waits, enqueue, withdraw);
}

// The calling strand stays ready, but lets others go first. give_way lets those go that are ready
// on this vproc, if any, and throws `cancelled` if the strand is to stop. end_turn lets those go,
// too, that become ready there before the vproc has nothing else to do.
void give_way();
void end_turn() noexcept;

// Resumes the strand. Returns only if the strand's stack is being reclaimed: then the reclaimer
// resumes the strand. `self` has no stack, or an empty one.
void run(worker* self, fiber* strand) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
