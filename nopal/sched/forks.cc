// SPDX-License-Identifier: MIT
// The slow paths of fork and join. No memory order is named here; the protocols are in deque/ and
// join/.
//
// A strand leaves its stack first, and only then tells anybody that it has: a child whose
// continuation was stolen leaves its parent's stack before it counts itself down, and the main path
// leaves the thief's stack before it arrives at the join, since the thread that resumes there may
// use the stack at once.
//
// The functions marked NOPAL_SWITCHES do not return to their callers in the ordinary way.
#include "nopal/sched/forks.h"

#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/groups.h"
#include "nopal/sched/preemption.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/steal.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/overflow.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/thread_bound.h"
#include "nopal/vproc/wake.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// A slow path of a fork, which is no part of what a stolen strand runs (sync/vain_steals.h).
void pause_run(worker* self) noexcept {
  if (self->host->vain.measures()) [[unlikely]]
    self->host->vain.pause(base::cycles());
}
void go_on_with_run(worker* self) noexcept {
  if (self->host->vain.measures()) [[unlikely]]
    self->host->vain.go_on(base::cycles());
}

void push_slow(worker* self, fork_record* fork) noexcept {
  vproc::enter();
  NOPAL_ASSERT(stack::is_ours(reinterpret_cast<std::uintptr_t>(fork)) &&
                   stack::stack_of(reinterpret_cast<std::uintptr_t>(fork)) == self->stack,
               "a fork was made on another stack than its strand's: in a signal handler, or after "
               "the program had changed stacks (swapcontext, a fiber); fork on the strand's own");
  vproc::check_depth(fork, self->stack);
  pause_run(self);
  self->adopt_late(); // before the push: the deque must know the stack that the fork lies on
  if (self->deque.push_anyway(fork) == deque::attention::requested &&
      self->deque.publish(fork, name_of(self->group)))
    vproc::announce_work(self, self->group);
  wait_for_thief(self);
  go_on_with_run(self);
  vproc::leave(); // giving way enters the scheduler itself
  give_way_if_told();
  spend_fuel();
}

// The strand is to stop, so the child of its open fork does not run, and counts as failed.
NOPAL_SWITCHES void drop(fork_record* fork, const body_calls& child, void* closure) noexcept {
  try {
    child.drop(closure);
    join::note_not_run(fork);
  } catch (...) {
    join::capture_failure(fork);
  }
  child_threw(fork);
}

// Does all that a thunk does, for a strand with live exceptions or control words of its own. Both
// travel with the continuation, in the scope's state.
NOPAL_SWITCHES void fork_with_own_state(fork_record* fork, const body_calls& child,
                                        void* closure) noexcept {
  std::exception_ptr handled = std::current_exception();
  join::set_exceptions_aside(fork->scope());
  if (vproc::current()->own_control()) {
    fork->scope()->state().strand.control = arch::control_words::now();
    fork->scope()->note_own_control();
  }
  // The strand's, which this thread does not show meanwhile. Read before the fork opens: after that
  // the scope's state may be the thief's.
  const unsigned uncaught = fork->scope()->state().strand.exceptions.uncaught;
  base::note_fork(fork, fork->scope());
  worker* const self = vproc::current();
  if (!self->deque.push(fork))
    push_slow(self, fork);
  if (stops_amid(uncaught)) {
    if (!join::run_catching_amid(std::move(handled), uncaught, fork, child.drop, closure))
      join::note_not_run(fork);
    child_threw(fork);
  } else if (join::run_catching_amid(std::move(handled), uncaught, fork, child.run, closure)) {
    child_threw(fork);
  } else if (!vproc::pop(fork)) {
    child_returned(fork);
  }
  join::bring_exceptions_back(fork->scope());
  fork->scope()->take_own_control();
}

// What all strands of the scope have added to reducers is the main path's now.
void take_partials(scope_frame* scope) noexcept {
  if (join::partials* const all = scope->partial().take()) [[unlikely]] {
    const base::unseen while_it_combines;
    join::partials*& own = vproc::own_partials();
    own = join::partials::combine(all, own);
  }
}

void suppress_children(scope_frame* scope) noexcept {
  take_partials(scope);
  base::forget_unwound_frames(); // the throw may have run on another stack than this
  const join::collected failures = join::collect_failures(scope);
  stop_ended(failures.stops);
  if (failures.first != nullptr)
    join::count_suppressed(1);
}

} // namespace

void check_control(const vproc::worker_deque* deque) noexcept {
  const auto* const self = static_cast<const worker*>(deque);
  NOPAL_ASSERT(
      !vproc::is_worker(self) || self->own_control() ||
          arch::control_words::now() == self->group->control,
      "the floating-point control words (rounding, flush to zero) changed before a fork, "
      "which would not take them along; change them with a nopal::floating_point guard, or "
      "restore them before the fork");
}

NOPAL_SWITCHES bool fork_slow(fork_record* fork, const body_calls& child, void* closure) noexcept {
  worker* const self = vproc::current();
  if (!vproc::is_worker(self)) {
    fork_in_new_group(fork, child, closure);
    return true;
  }
  if (self->exceptions->alive()) {
    fork_with_own_state(fork, child, closure);
    return true;
  }
  push_slow(self, fork);
  const bool stops = stops_here();
  if (stops)
    drop(fork, child, closure);
  return stops;
}

NOPAL_SWITCHES bool take_back(fork_record* fork) noexcept {
  worker* const self = vproc::strands_own();
  vproc::enter();
  pause_run(self);
  if (!self->deque.take_back(fork)) {
    expect_steal(self);
    return false;
  }
  go_on_with_run(self);
  vproc::leave();
  return true;
}

NOPAL_SWITCHES void detach(fork_record* fork) noexcept {
  worker* const self = vproc::current();
  scope_frame* const scope = fork->scope();
  scope->partial().add(self->partials, fork->steals_before);
  vproc::check_callers(self);
  vproc::check_mutexes(self->host); // although this thread may resume the main path itself
  const bool below = self->holds_frame_of(scope);
  base::forget_frames(arch::stack_pointer(),
                      below ? scope->stack_pointer : stack::top(self->stack));
  arch::nopal_arch_leave(child_ended, fork->scope(), self->scheduler_stack);
}

NOPAL_SWITCHES void child_returned(fork_record* fork) noexcept {
  if (!take_back(fork))
    detach(fork);
}

NOPAL_SWITCHES void child_threw(fork_record* fork) noexcept {
  vproc::enter();
  const bool ours = vproc::pop(fork) || vproc::strands_own()->deque.take_back(fork);
  if (join::attach_failure(fork, !ours))
    announce_stop(fork->scope()->below());
  if (!ours)
    detach(fork);
  vproc::leave();
}

NOPAL_SWITCHES base::seen_strand* begin_seen_child(const scope_frame* scope) noexcept {
  if (!vproc::on_strand())
    start_pool(); // the options may not be decided yet
  return base::strands_apart ? base::begin_child(scope) : nullptr;
}

// Frames that the child had below this one's, and those between this one and the parent's, are no
// longer in use.
NOPAL_SWITCHES void end_seen_child(base::seen_strand* child, std::uintptr_t high) noexcept {
  if (!base::strands_apart)
    return;
  if (child == nullptr)
    return base::show_strand();
  base::end_child(child);
  constexpr std::uintptr_t room = 1024; // for frames below this one
  std::uintptr_t low = arch::stack_pointer() - room;
  if (stack::is_ours(low))
    low = base::clear_used_part(stack::bottom(stack::stack_of(low)), low);
  base::forget_accesses(low, high);
}

void skip_child(scope_frame* scope) noexcept {
  if (!vproc::on_strand())
    start_pool(); // the states of scopes may not be open yet
  join::attach_not_run(scope);
}

NOPAL_SWITCHES void main_path_waits(arch::context* at, std::uintptr_t left) noexcept {
  auto* const scope = static_cast<scope_frame*>(at);
  worker* const self = vproc::strands_own();
  vproc::enter();
  note_wait(self);
  join::scope_state& state = scope->state();
  if (state.made_in != base::this_process)
    base::lost_in_child(); // children of the scope run in the parent process
  NOPAL_ASSERT(
      left == state.stolen_at,
      "scopes of one function were joined out of order, or its frame changed size (alloca) "
      "between a scope's declaration and its join; join scopes in the reverse order of their "
      "declaration");
  // All of the main path is stored before `arrive`: from then on another thread may resume it.
  state.strand = vproc::take_strand_state(self);
  if (self->own_control())
    scope->note_own_control();
  scope->partial().add(self->partials, scope->steals());
  note_scheduler_stack(self->host);
  displace_stack(self->stack);
  note_empty_stack(self);
  base::happens_before(&state);
  self->use_no_stack(); // before `arrive`: its stack is then the main path's again
  if (state.join.arrive())
    schedule(self, signal::joined(scope));
  self->host->count.suspensions.add(1);
  schedule(self, signal::stop());
}

bool finish_children(scope_frame* scope) {
  take_partials(scope);
  join::collected failures = join::collect_failures(scope);
  stop_ended(failures.stops);
  if (failures.first != nullptr)
    std::rethrow_exception(std::move(failures.first));
  return !failures.cancelled;
}

void finish_join(scope_frame* scope) {
  if (!finish_children(scope))
    join::throw_cancelled();
  stop_if_told();
}

void finish_join_in_destructor(scope_frame* scope) {
  if (!scope->needs_join()) // its destructor had an old answer (scope_frame.h)
    return;
  if (std::uncaught_exceptions() == 0)
    finish_join(scope);
  else
    suppress_children(scope);
}

bool finish_region(join::region_frame* scope) {
  const bool complete = finish_children(scope);
  stop_if_told();
  return complete;
}

bool is_unwound(const scope_frame* scope) noexcept {
  return scope->needs_join() && // the destructor's answer may be old (scope_frame.h)
         static_cast<unsigned>(std::uncaught_exceptions()) != scope->uncaught();
}

void end_region(join::region_frame* scope) {
  if (scope->region->marked()) // the canceller has announced it once
    stop_ended();
  if (!scope->needs_join())
    return;
  if (is_unwound(scope))
    suppress_children(scope);
  else
    finish_region(scope);
}

void scope_misused() noexcept {
  base::die(
      "a scope was forked or joined by another function than the one that declares it (a lambda or "
      "a member function is a function of its own, unless the compiler makes it one with its "
      "caller, as at -O2); declare a scope in the function that forks, and join it there");
}

} // namespace nopal::inline NOPAL_ABI::sched
