// SPDX-License-Identifier: MIT
// Fibers that a program spawns: how one begins and ends, and how a region waits for all of its own
// (vproc/computation.h, nopal/fiber.h).
//
// A fiber takes a stack when it first runs, and ends on the same stack. Its strands belong to the
// group in which nopal::run was called; so an affine region, which is a group of its own, may end
// before a fiber that was spawned there.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/cancel_node.h"
#include "nopal/vproc/computation.h"
#include "nopal/vproc/fiber.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::fibers {

using vproc::computation;
using vproc::fiber;
using vproc::fiber_context;
using vproc::signal;
using vproc::worker;

// One that has not begun. The context lives as long as the fiber.
struct spawned : fiber {
  explicit spawned(void (*calls)(spawned*), void (*ends)(spawned*) noexcept) noexcept
      : call{calls}, end{ends} {}

  void (*const call)(spawned*);         // calls the function; may throw
  void (*const end)(spawned*) noexcept; // frees this object if that is to be done
  fiber_context own;
};

// Joins the computation of the calling strand. Ends the program with a sentence if it is in none.
void join_computation(spawned* unborn) noexcept;

// Begins the computation with this function, and returns when all its fibers have ended. A strand.
void run_body(spawned* body, computation* begun) noexcept;
// One has ended that is no strand but counts as a fiber (actions.h).
void end_fiber(computation* in) noexcept;
// A member of this node has ended, or has left the node; makes those ready that wait for the last.
void end_member(vproc::cancel_node* node) noexcept;
// After that: throws what the body has thrown, or else the first failure of the fibers.
void rethrow(std::exception_ptr& thrown_by_body, computation& ended);

// Misuse, which ends the program with a sentence.
[[noreturn]] void fiber_was_dropped() noexcept;
[[noreturn]] void fiber_was_used() noexcept;
[[noreturn]] void no_fiber_here() noexcept;

// Lets the fibers run that are ready, and goes on after them. On a thread that runs no strands:
// lets the system's other threads run.
void yield() noexcept;

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
