// SPDX-License-Identifier: MIT
// A vproc is the place of a thread among the threads that run strands.
//
// A pool thread has one; when the pool ends, a thread of the next pool takes it over. A thread that
// Nopal did not start, an external thread, has one from its first fork to its end. At any time a
// vproc runs strands with one worker (worker.h): its stack and its deque.
//
// Ownership: docs/nouns.md tells for each field which threads may use it, and when.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/child.h"
#include "nopal/base/count.h"
#include "nopal/base/random.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/join/failure.h"
#include "nopal/stack/small.h"
#include "nopal/sync/forced_waits.h"
#include "nopal/sync/local_queue.h"
#include "nopal/sync/parking.h"
#include "nopal/sync/shared_queue.h"
#include "nopal/sync/signal_word.h"
#include "nopal/sync/vain_steals.h"
#include "nopal/vproc/action.h"
#include "nopal/vproc/computation.h"

#include <cstdint>
#include <utility>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

struct affine_note;
struct fiber;
struct group;
struct worker;

// A word that one thread writes and any thread reads. Nobody reads other memory because of its
// value, so relaxed order is enough.
template <class T> class shown {
public:
  void set(T value) noexcept { value_.store(value, base::relaxed); }
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

// The place of a vproc's scheduler: on the thread's own stack, or, while the thread waits in an
// affine region, below the strand that entered the region.
struct scheduler_place {
  std::uintptr_t stack_pointer = 0;   // its first frame lies below this, each time it is entered
  void* fiber = nullptr;              // ThreadSanitizer's name of that stack
  base::stack_bounds bounds = {0, 0}; // of that stack, for AddressSanitizer
};

// The fields of a vproc that a group replaces. A thread that begins a group stores its vproc's role
// in the group, and takes it up again when the group ends (sched/groups.cc). A thread that lends
// the place of another one follows these roles, which may change meanwhile (spares.cc).
struct role {
  scheduler_place scheduler;
  shown<group*> bound;           // it runs strands of this group only; null: of any open group
  shown<bool> member;            // another thread waits for that group (arenas.h)
  action_stack actions;          // others may take them
  shown<bool> runs;              // it runs a strand or an action, and does not look for work
  affine_note* affine = nullptr; // the innermost affine call without a region (affine_note.h)

  // `from` has no actions after that, and this one had none.
  void take_up(role& from) noexcept {
    scheduler = from.scheduler;
    bound.set(from.bound.get());
    member.set(from.member.get());
    actions.put(from.actions.take_all());
    runs.set(from.runs.get());
    affine = std::exchange(from.affine, nullptr);
  }
};

struct vproc : role {
  const join::exception_state* exceptions = &join::no_exceptions; // its thread's
  int* error = nullptr;                                           // its thread's errno
  arch::context* beginning = nullptr;    // where a pool thread began, and ends
  const action* asked = nullptr;         // the action that decides now
  bool watched = base::a_tool_watches(); // a tool must see each switch of stacks
  bool switches_shortly = false; // from strand to strand: neither a tool nor the seed has a part
  std::uint32_t number = 0;      // its index among all vprocs
  const std::uint32_t made_in = base::this_process; // base/child.h
  // Strands of virtual workers, less the one that runs. A spare may run one of them meanwhile.
  base::count set_aside;
  std::uint32_t turns_owed = 0; // of ready strands, before the next alternative begins
  held_units units;
  stack::small::kept_for_vproc small_stacks;
  std::uint32_t next_victim = 0; // the slot of the worker that its next steal at once begins with
  bool turn_over = false; // a tick has passed since an action yielded, or woken fibers came first
  bool in_pool = false;
  bool found_fiber = false; // its last search has found a fiber (sched/idle.h)
  shown<bool> spare;        // a pool thread that is active only while others block (spares.h)
  base::random random;
  sync::vain_steals vain;
  counters count;
  sync::forced_waits forced;

  // Fibers that its thread made ready and may run: while it is bound, its group's only.
  alignas(64) sync::local_queue<fiber> ready;

  // Fibers that only this vproc may run.
  alignas(64) sync::shared_queue<fiber> remote;
  base::handed_over<std::uint32_t> computations{0}; // that have provisioned it (provision.h)

  // True at each 64th turn: the shared fibers come first, since its own might never end.
  bool looks_further() const noexcept { return ready.turns() % 64 == 63; }
  // Whether its own queue alone decides what it runs next.
  bool may_switch() const noexcept {
    return actions.empty() && remote.empty() && !spare.get() && switches_shortly &&
           !signals.maybe_raised(~0u);
  }

  // Other threads request something of it with these, and read them (sched/stop.h, timer.h).
  alignas(64) sync::signal_word<worker> signals;
  shown<bool> searches;       // it looks for work, or sleeps until work wakes it
  shown<group*> searches_for; // the group whose work it looks for; null: any open one
  base::count blocked;        // its thread blocks, or sleeps in a region, and has lent its place
  base::atomic<bool> stood_in{false}; // a spare has its place, since it did not take its signals
  shown<group*> lent_in;              // the group that it was bound to when that began

  alignas(64) sync::parking_place parking; // where its thread sleeps while it is not bound
};

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
