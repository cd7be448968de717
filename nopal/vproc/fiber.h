// SPDX-License-Identifier: MIT
// A fiber is a suspended computation, of one of three kinds:
//
//   new      It has not begun, and needs an empty stack.
//   parked   A strand that waits for something else than its children, with its registers, its
//            stack, and the worker that holds its open forks, if it has any.
//   start    To enter it is to ask an action.
//
//   running --park--> waiting --make_ready--> ready --schedule--> running, on any vproc
//                        new ----make_ready-->
//
// A parked fiber lies in the frame of the function that waits. A thread that runs no strands waits
// itself, on the `waker` of such a fiber. A new fiber lies where fibers/fibers.h says, the start of
// an action in the action.
//
// Ownership: the strand, before the fiber is in a queue; then the thread that holds the queue's
//            lock; then the vproc that took the fiber from there.
#pragma once

#include "nopal/config.h"
#include "nopal/join/strand_state.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/thread_waker.h"
#include "nopal/vproc/action.h"
#include "nopal/vproc/context.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct fiber : arch::context {
  // A new fiber's first function, called on its stack with the fiber. Null: the fiber is resumed.
  void (*begin)(void*) = nullptr;
  bool on_small_stack = false;      // a new fiber begins on a small stack, if there are any
  action* starts = nullptr;         // the action that is asked when this fiber is entered
  fiber_context* context = nullptr; // null: its strand is in no computation
  // Puts a parked strand where its waker finds it, as the last access to the strand. Returns the
  // vproc's next signal; `enter` this strand means that it need not wait.
  signal (*enqueue)(fiber*, void*) = nullptr;
  void* argument = nullptr;
  base::handed_over<fiber*> next{nullptr};         // in a ready queue
  base::handed_over<fiber*> next_waiting{nullptr}; // in the queue of a mutex, condition or event
  base::handed_over<fiber*> before_waiting{nullptr};
  struct group* group = nullptr;        // null: a thread that runs no strands waits
  worker* left = nullptr;               // the worker that holds its open forks; null: it has none
  stack::stack_id on = stack::no_stack; // its stack, if that is in use
  std::uintptr_t split = 0;             // of the deque, when it gave up the strand's stack
  join::strand_state state;
  join::partials* partials = nullptr; // what the strand has added to reducers; null: nothing
  bool own_control = false;           // the strand's control words are not its group's
  bool stack_in_use = false;  // its stack was not retired, since it is ready at once (park.cc)
  bool plain = false;         // the same, and it has only registers, a stack and errno (park.cc)
  bool turn_ended = false;    // it was preempted: fibers that its vproc keeps go first
  bool again = false;         // the action that it starts has yielded
  bool anywhere = false;      // the action that it starts goes on on any vproc, pinned or not
  sync::thread_waker waker;   // of a thread that runs no strands
  std::uint32_t waits_in = 0; // the process in which such a thread waits
  // A strand that can be cancelled while it waits: its waker and the canceller claim this, and the
  // first claim decides. Else null.
  sync::choice* waits = nullptr;

  bool claim() noexcept { return waits == nullptr || waits->claim(0); }
  bool gave_way() const noexcept { return stack_in_use || again; }
  // The only vproc that may run the fiber; null: any may.
  vproc* pinned_to() const noexcept {
    vproc* const pinned = context == nullptr ? nullptr : context->pinned;
    return pinned == nullptr || anywhere ? nullptr : pinned;
  }
  bool is_pinned() const noexcept { return pinned_to() != nullptr; }
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
