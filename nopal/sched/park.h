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

namespace nopal::inline NOPAL_ABI::sched {

using vproc::fiber;
using vproc::signal;

// Comes back, perhaps on another thread, when the fiber that `enqueue` is given is entered: after
// make_ready, or at once if enqueue says so (vproc/fiber.h). On a thread that runs no strands,
// enqueue answers `stop`, or to enter that fiber.
void park(signal (*enqueue)(fiber*, void*), void* argument) noexcept;
template <class Enqueue> void park(Enqueue enqueue) noexcept {
  park([](fiber* strand, void* one) { return (*static_cast<Enqueue*>(one))(strand); }, &enqueue);
}

// Any thread, once for each time that it was parked.
void make_ready(fiber* strand) noexcept;

// For find_work: takes the fiber that has been ready longest, of this group if it is not null;
// null: there is none. And whether there is one.
fiber* take_ready(const vproc::group* wanted) noexcept;
bool any_ready(const vproc::group* wanted) noexcept;

// The workers that waiting strands have left with open forks.
extern vproc::suspended_workers<vproc::worker> suspended;

} // namespace nopal::inline NOPAL_ABI::sched
