// SPDX-License-Identifier: MIT
// Fibers that a program spawns: how a fiber begins and ends, and how nopal::run waits for all
// fibers of its computation (vproc/computation.h, nopal/fiber.h).
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

// A fiber that has not begun. The context lives as long as the fiber.
struct spawned : fiber {
  explicit spawned(void (*body)(spawned*), void (*at_end)(spawned*) noexcept) noexcept
      : call{body}, end{at_end} {}

  void (*const call)(spawned*);         // calls the function; may throw
  void (*const end)(spawned*) noexcept; // frees this object if it lies on the heap
  fiber_context own;
};

// The fiber joins the computation of the calling strand. Precondition, checked: that is in one.
void join_computation(spawned* new_fiber) noexcept;

// Counts as a fiber of the calling strand's computation while it lives, so that any thread may add
// fibers to it meanwhile. Precondition, checked: the strand that makes it is in a computation.
class kept_open {
public:
  kept_open() noexcept;
  ~kept_open();
  kept_open(const kept_open&) = delete;
  kept_open& operator=(const kept_open&) = delete;

  void join(spawned* new_fiber) const noexcept;

private:
  computation* joined_;
  vproc::cancel_node* cancels_;
};

// Begins the computation with this function, and returns when all its fibers have ended. Called by
// a strand. Throws `cancelled` instead if the strand is to stop.
void run_body(spawned* body, computation* begun);
// Called when something has ended that is no fiber but counts as one (actions.h).
void end_fiber(computation* ended_in) noexcept;
// Called when a member of this node has ended or left the node. If it was the last one, makes the
// strands ready that wait for that.
void end_member(vproc::cancel_node* node) noexcept;
// The function that `run` was given has thrown: tells the other fibers to stop. Does not wait.
void stop_others(computation& failed, const std::exception_ptr& thrown) noexcept;
// Called after run_body: throws what the body has thrown, or else the first failure of the fibers.
void rethrow(std::exception_ptr& thrown_by_body, computation& ended);

// Misuse: each ends the program with a message.
[[noreturn]] void fiber_was_dropped() noexcept;
[[noreturn]] void fiber_was_used() noexcept;
[[noreturn]] void no_current_fiber() noexcept;

// The calling strand goes on after the fibers that are ready. On a thread that runs no strands:
// lets the system's other threads run. Throws `cancelled` if the strand is to stop.
void yield();

} // namespace nopal::inline NOPAL_ABI::fibers
NOPAL_HIDDEN_END
