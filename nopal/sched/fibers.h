// SPDX-License-Identifier: MIT
// Fibers that a program spawns: how one begins and ends, and how a region waits for all of its own
// (vproc/computation.h, nopal/fiber.h).
//
// A fiber takes a stack when it first runs, and ends on the same stack. Its strands belong to the
// group in which nopal::run was called; so an affine region, which is a group of its own, may end
// before a fiber that was spawned there.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/computation.h"
#include "nopal/vproc/fiber.h"

namespace nopal::inline NOPAL_ABI::sched {

using vproc::computation;
using vproc::fiber;

// One that has not begun.
struct spawned : fiber {
  explicit spawned(void (*calls)(spawned*)) noexcept : call{calls} {}

  void (*call)(spawned*); // calls the function, and frees this object if it has to; may throw
};

// Ends the program with a sentence if the calling strand is in no computation.
void spawn(spawned* unborn) noexcept;

bool on_strand() noexcept; // whether the calling thread runs one
// Begins the computation with this function, and returns when all its fibers have ended. A strand.
void run_body(spawned* body, computation* begun) noexcept;
// After that: throws what the body has thrown, or else the first failure of the fibers.
void rethrow(std::exception_ptr& thrown_by_body, computation& ended);

// Lets the fibers run that are ready, and goes on after them. On a thread that runs no strands: lets
// the system's other threads run.
void yield() noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
