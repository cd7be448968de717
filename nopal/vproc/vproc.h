// SPDX-License-Identifier: MIT
// A vproc is a thread's place among those that run strands.
//
// A pool thread has one, and leaves it to the thread that comes after it where the pool ends. A
// thread that Nopal did not start, an external thread, has one from its first fork to its end. At
// any time a vproc runs strands with one worker (worker.h): its stack and its deque.
//
// Ownership: the thread that makes it, then its own thread. `parking`, `signals` and `blocked` are
//            shared; all read `count` and what is `shown`.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/count.h"
#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/sync/forced_waits.h"
#include "nopal/sync/local_queue.h"
#include "nopal/sync/parking.h"
#include "nopal/sync/shared_queue.h"
#include "nopal/sync/signal_word.h"
#include "nopal/sync/vain_steals.h"
#include "nopal/sync/wait_word.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct action;
struct fiber;
struct group;
struct worker;

// Written by one thread, read by anybody. No other memory is read because of what it says.
template <class T> class shown {
public:
  void set(T to) noexcept { value_.store(to, base::relaxed); }
  T get() const noexcept { return value_.load(base::relaxed); }

private:
  base::atomic<T> value_{};
};

struct counter : shown<std::uint64_t> {
  void add(std::uint64_t number) noexcept { set(get() + number); }
};

struct counters {
  counter steals;      // continuations taken
  counter suspensions; // strands that stopped at a join for their children
  counter resumptions; // joins with a steal that it completed
  counter sleeps;      // times its thread went to sleep
  counter wakeups;     // threads it woke for forks and finished groups
  counter preemptions; // strands that the timer made give way
  counter handoffs;    // strands it resumed because their owner found it reclaiming their stack
};

// Where a vproc's scheduler runs: on the thread's own stack, or, while the thread waits in an
// affine region, below the strand that entered the region.
struct scheduler_place {
  std::uintptr_t stack_pointer = 0;   // on which the scheduler starts afresh
  void* fiber = nullptr;              // as ThreadSanitizer knows that stack
  base::stack_bounds bounds = {0, 0}; // as AddressSanitizer does
};

struct vproc {
  scheduler_place scheduler;
  const join::exception_state* exceptions = &join::no_exceptions; // its thread's
  int* error = nullptr;                                           // its thread's errno
  arch::context* beginning = nullptr; // of a pool thread, which ends where it began
  bool member = false;    // bound to a group that another thread waits for (group::closed)
  group* bound = nullptr; // its thread waits for this group and runs its strands only; null: any
  shown<action*> actions; // the one that was pushed last
  const action* asked = nullptr;         // the one that is to answer now
  bool watched = base::a_tool_watches(); // each switch of stacks must be told
  std::uint32_t number = 0;              // of all vprocs
  std::uint32_t turns_owed = 0;          // at ticks, to ready strands, before an alternative begins
  bool in_pool = false;
  shown<bool> spare; // of the pool: active only while others are blocked
  base::random random;
  sync::vain_steals vain;
  counters count;
  sync::forced_waits forced;

  // Fibers that its thread made ready and may run. While it is bound, those of its group only.
  alignas(64) sync::local_queue<fiber> ready;

  // Fibers that are to run here and nowhere else.
  alignas(64) sync::shared_queue<fiber> remote;
  base::handed_over<std::uint32_t> computations{0}; // that have been given it (provision.h)

  // Every 64th time the fibers that all vprocs share come first: its own might never end.
  bool looks_further() const noexcept { return ready.turns() % 64 == 63; }
  // Whether nothing but its queue decides what it runs next.
  bool may_switch() const noexcept {
    return actions.get() == nullptr && remote.empty() && !spare.get() && !watched &&
           !signals.seems_told(~0u);
  }

  alignas(64) sync::wait_counts waits; // of strands that can be cancelled meanwhile

  // What others want of it (sched/preemption.h, timer.h).
  alignas(64) sync::signal_word<worker> signals;
  shown<bool> runs;                 // a strand, or an action: it does not look for work
  shown<bool> searches;             // for what it can steal, or sleeps until it is woken for that:
  shown<const group*> searches_for; // of this group; null: any that takes it
  base::count blocked; // its thread is in `blocking`, and a spare has its place already
  base::atomic<bool> stood_in{false}; // a spare has its place, since it did not take its signals

  alignas(64) sync::parking_place parking; // where its thread sleeps while it is not bound
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
