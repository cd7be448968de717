// SPDX-License-Identifier: MIT
//
// A worker: a thread that runs strands, the stack it runs them on, and its deque.
//
// A pool worker has a thread of its own. A guest is a thread that Nopal did not start; it is a
// worker from the fork on its own stack that enlists it until that fork's scope has gone on
// (sched/guest.cc). All other threads have a stand-in for a worker, whose limit is lowered for
// good: a fork there takes the slow path, so the fast path needs no test for them.
//
// Ownership: const after start: number, pool, scheduler fibers;  owner: everything marked so;
//            shared: deque, parking, finished, counters (owner writes, anybody reads).
#pragma once

#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/scope_frame.h"
#include "nopal/stack/stack.h"
#include "nopal/vproc/parking.h"

#if NOPAL_DEQUE_STACK_MAP
#include "nopal/deque/stack_map.h"
#elif NOPAL_DEQUE_SPLIT
#include "nopal/deque/split.h"
#elif NOPAL_DEQUE_CHASE_LEV
#include "nopal/deque/chase_lev.h"
#else
#include "nopal/deque/the.h"
#endif

#include <cstdint>

namespace nopal::vproc {

#if NOPAL_DEQUE_STACK_MAP
using deque_type = deque::stack_map<join::offer>;
#elif NOPAL_DEQUE_SPLIT
using deque_type = deque::split<join::offer>;
#elif NOPAL_DEQUE_CHASE_LEV
using deque_type = deque::chase_lev<join::offer>;
#else
using deque_type = deque::the<join::offer>;
#endif
static_assert(deque::work_deque<deque_type, join::offer>);
static_assert(deque_type::offers_are_public == join::offers_are_public);
static_assert(deque_type::steals_under_lock || !join::join_type::counts_under_deque_lock,
              "a join that counts steals under the deque's lock needs a deque that has one");

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

struct worker {
  // Owner. The stack pointer on which its scheduler starts afresh; arch/x86_64.S reads it.
  std::uintptr_t scheduler_stack = 0;

  // Owner. Its thread's exceptions, for every fork to look at.
  const join::exception_state* exceptions = &join::no_exceptions;

  deque_type deque;

  // Owner.
  stack::stack_id stack = stack::no_stack; // the one it runs on, or an empty one for the next steal
  worker* home = nullptr; // the guest whose computation it runs; itself for a guest
  void* thread_fiber = nullptr;
  base::stack_bounds thread_stack{0, 0}; // as AddressSanitizer knows it
  base::random random;
  std::uint32_t number = 0;
  bool pool = false;
  counters count;

#if NOPAL_TRACK_ANCESTORS
  join::scope_frame* innermost = nullptr; // nesting.h
  join::scope_frame* waiting = nullptr; // scopes on its stack that wait for their children, newest
                                        // first (sched/strategy.h)
#endif

  // Shared.
  alignas(64) parking_place parking;
  base::atomic<join::scope_frame*> finished{nullptr}; // guest: its outermost scope may go on
  base::atomic<bool> wants_anything{false}; // when it last went to sleep: not its own only
};

static_assert(offsetof(worker, scheduler_stack) == 0, "arch/x86_64.S");

// Pops from the current worker's deque. Where an offer can be closed without its deque, that is not
// looked for.
template <class Deque = deque_type>
[[gnu::always_inline]] inline bool pop(join::offer* of) noexcept {
  if constexpr (requires { Deque::pop(of); })
    return Deque::pop(of);
  else
    return arch::current()->deque.pop(of);
}

// The stand-in, for every thread that is no worker.
extern constinit worker nobody;

inline bool is_worker(const worker* self) noexcept { return self != &nobody; }

} // namespace nopal::vproc
