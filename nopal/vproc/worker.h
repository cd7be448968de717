// SPDX-License-Identifier: MIT
//
// A seat is what a thread is among those that run strands; a worker is what it runs them with: a
// stack and a deque.
//
// A pool thread has its seat for good. A guest is a thread that waits for a computation of its own
// (sched/guest.cc) and has a seat while it does; the seat names the computation. All other threads
// have a stand-in for a worker, whose limit is lowered for good: a fork there takes the slow path,
// so the fast path needs no test for them.
//
// A thread and its worker stay together but for one case: a strand that stops at something else
// than a join (a mutex) has offers above it on its stack. Its thread leaves the worker with them
// and goes on with another; thieves take from it as ever, and whoever goes on with the strand takes
// the worker over (sched/waiting.h).
//
// Ownership: const while the seat is taken: all of it down to `shared`, but for thread_stack and
//            random, the thread's;  worker: its thread's, if none sits there nobody's, but for the
//            deque and counters (owner writes, anybody reads).
#pragma once

#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/join.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/parking.h"

#include NOPAL_DEQUE_HEADER

#include <cstdint>

namespace nopal::inline NOPAL_ABI::vproc {

using deque_type = deque::NOPAL_DEQUE<join::offer>;
static_assert(deque::work_deque<deque_type, join::offer>);

// Counted by the owner, read by anybody.
class counter {
public:
  void add(std::uint64_t number) noexcept {
    value_.store(value_.load(base::relaxed) + number, base::relaxed);
  }
  std::uint64_t get() const noexcept { return value_.load(base::relaxed); }

private:
  base::atomic<std::uint64_t> value_{0};
};

struct counters {
  counter steals;      // continuations taken
  counter suspensions; // strands that stopped at a join for their children
  counter resumptions; // strands that went on after a join that had to be waited for
  counter sleeps;      // times it went to sleep
  counter wakeups;     // workers it woke
  counter errands;     // strands it went on with because it was advising about their stacks
};

struct worker;

struct seat {
  std::uintptr_t scheduler_stack = 0; // the stack pointer on which its scheduler starts afresh
  const join::exception_state* exceptions = &join::no_exceptions; // its thread's
  const int* error = nullptr;                                     // its thread's errno
  void* thread_fiber = nullptr;
  bool pool = false;
  bool spare = false;                         // of the pool: active only while others are blocked
  worker* outer = nullptr;                    // guest: what its thread is again afterwards
  const join::scope_frame* awaited = nullptr; // guest: its outermost scope
  int mutexes_held = 0;                       // guest, in check builds: when it became one

  base::stack_bounds thread_stack{0, 0}; // as AddressSanitizer knows it
  base::random random;

  // Shared.
  alignas(64) parking_place parking;
  base::atomic<join::scope_frame*> finished{nullptr}; // guest: its outermost scope may go on

  // By whoever completed the join, who wakes the guest next. Release; its partner is the guest's
  // acquire load (sched/search.cc), so that the guest sees what the strands of the scope did. That
  // the guest does not sleep over it is the work of the fences F and W (parking.h), not of this
  // order: W lies in the wake that follows.
  void hand_back(join::scope_frame* scope) noexcept { finished.store(scope, base::release); }
};

struct worker {
  // Of the seat, for arch/x86_64.S and for every fork to look at.
  std::uintptr_t scheduler_stack = 0;
  const join::exception_state* exceptions = &join::no_exceptions;

  deque_type deque;

  seat* at = nullptr;
  stack::stack_id stack = stack::no_stack; // the one it runs on, or an empty one for the next steal
  seat* home = nullptr;                    // the guest whose computation it runs
  int stolen_error = 0;                    // what that was where it stole last
  std::uint32_t number = 0;
  bool used = false; // sched/pool.cc
  counters count;

  // The seat's thread goes on as this worker.
  void sit(seat* place_of_thread) noexcept {
    at = place_of_thread;
    scheduler_stack = at->scheduler_stack;
    exceptions = at->exceptions;
    set_error_at(at->error);
  }
  // Where thieves find the errno of what they steal.
  void set_error_at(const int* where) noexcept { error_place.store(where, base::relaxed); }
  const int* error_at() const noexcept { return error_place.load(base::relaxed); }
  base::atomic<const int*> error_place{nullptr};
};

static_assert(offsetof(worker, scheduler_stack) == 0, "arch/x86_64.S");

// Pops from the current worker's deque.
[[gnu::always_inline]] inline bool pop(join::offer* of) noexcept {
  return deque_type::pop(of, []() -> deque_type& { return arch::current()->deque; });
}

// The stand-in, for every thread that is no worker.
extern constinit worker nobody;

inline bool is_worker(const worker* self) noexcept { return self != &nobody; }

} // namespace nopal::inline NOPAL_ABI::vproc
