// SPDX-License-Identifier: MIT
// A worker is what a vproc runs strands with: a stack and a deque.
//
// A pool thread's vproc changes its worker in two cases only. In an affine region it takes another
// one (sched/groups.cc). And a strand may wait, for a mutex say, with open forks above it on its
// stack: the worker stays with that strand, the vproc takes another one, and thieves find the
// worker in the list of the suspended (suspended.h). A thread that runs no strands has a stand-in
// for a worker. Its exceptions count as alive and its limit is lowered for good, so a fork or a
// poll there takes the slow path, and the fast path needs no test for it.
//
// The deque, which every fork touches, is in a base of its own (worker_deque.h).
//
// Ownership: only the vproc that runs a worker writes it; others touch its deque alone, and through
//            it read errno. While it is suspended, the list owns `next` and `before`; the rest is
//            constant.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/child.h"
#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/join/partials.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/group.h"
#include "nopal/vproc/vproc.h"
#include "nopal/vproc/worker_deque.h"

#include <cstdint>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct worker : worker_deque {
  vproc* host = nullptr;                   // the vproc that runs it; null: suspended or unused
  stack::stack_id stack = stack::no_stack; // its strand's, or an empty one for the next steal
  struct group* group = nullptr;           // the group whose strand it runs
  // The split with which the deque adopts the stack at the strand's first fork (adopt_late); 0: it
  // has adopted the stack.
  std::uintptr_t late_split = 0;
  join::partials* partials = nullptr;       // what its strand has added to reducers; null: nothing
  int error = 0;                            // of the last theft; suspended: of its strand (errno)
  std::uint32_t slot = 0;                   // in the table of workers, while a vproc runs it
  base::handed_over<worker*> next{nullptr}; // suspended.h
  base::handed_over<worker*> before{nullptr};

  // The deque uses this stack from now on (stack_map.h).
  void adopt(stack::stack_id used, std::uintptr_t split, struct group* owner) noexcept {
    late_split = 0;
    deque.adopt(used, split, name_of(owner));
  }
  // A strand without open forks begins or goes on. Many never fork before they wait again: for
  // these the deque, and its lock, are left alone.
  void adopt_at_first_fork(std::uintptr_t split) noexcept {
    if constexpr (deque_type::adopts_late)
      late_split = split;
    else
      adopt(stack, split, group);
  }
  void adopt_late() noexcept {
    if (late_split != 0)
      adopt(stack, late_split, group);
  }
  // A strand stops at this address. True: it has no open forks, and the deque has given up the
  // stack (stack_map.h).
  bool give_back(std::uintptr_t from, std::uintptr_t& split) noexcept {
    split = std::exchange(late_split, 0);
    return split != 0 || deque.give_back(from, split);
  }
  void use_no_stack() noexcept {
    if (std::exchange(late_split, 0) == 0)
      deque.adopt(stack::no_stack, 0, nullptr);
  }

  // Whether the scope's frame lies on the stack on which the worker runs a child of it; else that
  // stack holds the child alone.
  bool holds_frame_of(const join::scope_frame* scope) const noexcept {
    return stack::is_ours(scope->stack_pointer) && stack::stack_of(scope->stack_pointer) == stack;
  }
  // The vproc runs strands with this worker from now on.
  void run_on(vproc* owner) noexcept {
    host = owner;
    scheduler_stack = owner->scheduler.stack_pointer;
    exceptions = owner->exceptions;
    deque.error.set(owner->error);
    arch::nopal_self = this;
    owner->signals.run_with(this);
  }
  // Any thread: makes the strand that it runs look at the vproc's signals at its next fork or poll.
  void interrupt() noexcept { deque.interrupt(); }
  // Whether the strand that it runs computes with control words of its own, or with its group's.
  void set_own_control(bool own) noexcept {
    exceptions = own ? &join::always_alive : host->exceptions;
  }
  bool own_control() const noexcept { return exceptions == &join::always_alive; }
};

// The calling thread's worker.
[[gnu::always_inline]] inline worker* current() noexcept {
  return static_cast<worker*>(arch::current());
}

// All threads that run no strands share one. Their forks take the slow path before they are marked,
// since they may lie on a stack of another copy of Nopal (sched/copies.h).
struct stand_in : worker {
  constexpr stand_in() noexcept { exceptions = &join::always_alive; }
};
extern constinit stand_in no_worker;

inline bool is_worker(const worker* self) noexcept { return self != &no_worker; }
// The worker of the calling strand, after code of the program. Ends the program if that called
// fork(), and this is the child: there the thread has left its strand (worker.cc), and the
// scheduler that it would go on with runs in the parent alone.
[[gnu::always_inline]] inline worker* strands_own() noexcept {
  worker* const self = current();
  if (!is_worker(self)) [[unlikely]]
    base::lost_in_child();
  return self;
}
// Whether the calling thread runs a strand.
inline bool on_strand() noexcept { return is_worker(current()); }

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
