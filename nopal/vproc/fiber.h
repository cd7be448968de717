// SPDX-License-Identifier: MIT
// A fiber is a suspended computation. Either it has not begun (`begin`), and needs an empty stack; or
// it is a strand that waits for something else than its children, with all that it needs to go on:
// its registers, its stack, and the worker that holds its open forks, if it has any.
//
//   running --park--> waiting --make_ready--> ready --schedule--> running, on any vproc
//                        new ----make_ready-->
//
// A fiber that waits lies in the frame of the function that waits. Where that is no strand but a
// thread that runs none, the thread itself waits (`waker`). One that has not begun lies on the heap
// (sched/fibers.h).
//
// Ownership: the strand, before the fiber is in a queue; then the thread that holds the queue's
//            lock; then the vproc that took the fiber from there.
#pragma once

#include "nopal/config.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/queues.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::vproc {

class computation;

struct fiber : arch::context {
  // Of one that has not begun: what is called on its stack, with the fiber, which it frees. Null: it
  // waits, and is resumed.
  void (*begin)(void*) = nullptr;
  computation* in = nullptr; // of one that has not begun
  // Puts the fiber where others find it, as the last access to it, and returns what the vproc runs
  // next: another fiber, or the same, which need not wait; null: it looks for work.
  fiber* (*enqueue)(fiber*, void*) = nullptr;
  void* argument = nullptr;
  base::handed_over<fiber*> next{nullptr}; // of the queue that it is in
  group* of = nullptr;                     // null: of a thread that runs no strands
  worker* left = nullptr;   // the worker that it left, with its open forks; null: it had none
  std::uintptr_t split = 0; // the split of its deque when the strand gave that back
  join::exception_state exceptions{};
  int error = 0;
  arch::control_words control{};
  bool own_control = false; // they are not its group's
  thread_waker waker;       // of a thread that runs no strands
};

} // namespace nopal::inline NOPAL_ABI::vproc
