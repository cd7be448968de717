// SPDX-License-Identifier: MIT
// A fiber is a suspended computation. It has not begun, and needs an empty stack; or it is a strand
// that waits for something else than its children, with all that it needs to go on: its registers,
// its stack, and the worker that holds its open forks, if it has any; or it starts an action.
//
//   running --park--> waiting --make_ready--> ready --schedule--> running, on any vproc
//                        new ----make_ready-->
//
// A fiber that waits lies in the frame of the function that waits. Where that is no strand but a
// thread that runs none, the thread itself waits (`waker`). One that has not begun lies where
// fibers/fibers.h says, one that starts an action in the action.
//
// Ownership: the strand, before the fiber is in a queue; then the thread that holds the queue's
//            lock; then the vproc that took the fiber from there.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/choice.h"
#include "nopal/sync/thread_waker.h"
#include "nopal/vproc/action.h"
#include "nopal/vproc/context.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct fiber : arch::context {
  // Of one that has not begun: what is called on its stack, with the fiber. Null: it is resumed.
  void (*begin)(void*) = nullptr;
  bool on_small_stack = false;   // it begins there, where there are such
  action* starts = nullptr;      // it is no strand: to enter it is to ask this action
  fiber_context* with = nullptr; // null: its strand is in no computation
  // Puts a strand where others find it, as the last access to it. Returns what the vproc is told:
  // to enter this strand means that it need not wait.
  signal (*enqueue)(fiber*, void*) = nullptr;
  void* argument = nullptr;
  base::handed_over<fiber*> next{nullptr};         // of the queue that it is in
  base::handed_over<fiber*> next_waiting{nullptr}; // of that of a mutex, a condition, an event
  group* of = nullptr;                             // null: of a thread that runs no strands
  worker* left = nullptr; // the worker that it left, with its open forks; null: it had none
  stack::stack_id on = stack::no_stack; // its stack, if that is in use
  std::uintptr_t split = 0;             // the split of its deque when the strand gave that back
  join::exception_state exceptions{};
  int error = 0;
  arch::control_words control{};
  bool own_control = false; // they are not its group's
  // Left by switch_to_next (sched/park.cc), which leaves much of the above alone.
  bool stack_in_use = false;
  bool turn_ended = false;  // it was preempted: those that its vproc keeps ready go first
  sync::thread_waker waker; // of a thread that runs no strands
  // Of a strand that can be cancelled while it waits: who wakes it claims this. Else null.
  sync::choice* waits = nullptr;

  bool claim() noexcept { return waits == nullptr || waits->claim(0); }
  // The vproc on which alone the fiber runs; null: it may run on any.
  vproc* pinned_to() const noexcept { return with == nullptr ? nullptr : with->pinned; }
  bool is_pinned() const noexcept { return pinned_to() != nullptr; }
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
