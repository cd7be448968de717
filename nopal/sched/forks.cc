// SPDX-License-Identifier: MIT
// The slow paths of fork and join. No memory order is named here; the protocols are in deque/ and
// join/.
//
// Where a strand leaves a stack it does so first, and only then tells anybody that it has: a child
// whose continuation was stolen leaves its parent's stack before it counts itself down, and the
// main path leaves the thief's stack before it arrives at the join, since the thread that resumes
// there may use the stack at once.
//
// The functions marked NOPAL_SWITCHES do not return to their callers in the ordinary way.
#include "nopal/sched/forks.h"

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/groups.h"
#include "nopal/sched/preemption.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/steal.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/overflow.h"
#include "nopal/vproc/thread_bound.h"
#include "nopal/vproc/wake.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

[[noreturn]] NOPAL_SWITCHES void detach(worker* self, fork_record* of) noexcept {
  const scope_frame* scope = of->scope();
  vproc::check_callers(self);
  vproc::check_mutexes(
      self->host); // now, though this thread may be the one that resumes the main path
  const bool below = self->holds_frame_of(scope);
  base::forget_frames(arch::stack_pointer(),
                      below ? scope->stack_pointer : stack::top(self->stack));
  arch::nopal_arch_leave(child_ended, of->scope(), self->scheduler_stack);
}

void publish_if(deque::attention why, worker* self, fork_record* newest) noexcept {
  if (why == deque::attention::requested && self->deque.publish(newest, name_of(self->of)))
    vproc::announce_work(self, self->of);
  wait_for_thief(self);
}

void push_slow(worker* self, fork_record* of) noexcept {
  vproc::enter();
  NOPAL_ASSERT(stack::is_ours(reinterpret_cast<std::uintptr_t>(of)) &&
                   stack::stack_of(reinterpret_cast<std::uintptr_t>(of)) == self->stack,
               "a fork was made on another stack than its strand's: in a signal handler, or after "
               "the program had changed stacks (swapcontext, a fiber); fork on the strand's own");
  vproc::check_depth(of, self->stack);
  self->adopt_late();
  publish_if(self->deque.push_anyway(of), self, of);
  vproc::leave();
  give_way_if_told();
}

// The strand is to stop. The child counts as failed.
void note_dropped(fork_record* of, const body_calls& child, void* closure) noexcept {
  try {
    child.drop(closure);
    join::note_not_run(of);
  } catch (...) {
    join::capture_failure(of);
  }
}

// The fork is open.
NOPAL_SWITCHES void drop(fork_record* of, const body_calls& child, void* closure) noexcept {
  note_dropped(of, child, closure);
  child_threw(of);
}

// It is not, on a thread that runs no strands; perhaps the first that the process would make.
void drop_outside(fork_record* of, const body_calls& child, void* closure) noexcept {
  start_pool();
  note_dropped(of, child, closure);
  static_cast<void>(join::attach_failure(of, false));
}

// The whole of a thunk whose strand is amid exceptions, or has control words of its own. Both go
// with the continuation.
NOPAL_SWITCHES void fork_with_own_state(fork_record* of, const body_calls& child,
                                        void* closure) noexcept {
  std::exception_ptr handled = std::current_exception();
  join::set_exceptions_aside(of->scope());
  if (vproc::current()->own_control()) {
    of->scope()->state().control = arch::control_words::now();
    of->scope()->note_own_control();
  }
  const unsigned uncaught = of->scope()->state().exceptions.uncaught;
  base::note_fork(of, of->scope());
  worker* const self = vproc::current();
  if (!self->deque.push(of)) {
    push_slow(self, of);
    if (uncaught != 0) // it does not stop now, and looks again when it is unwound
      look_at_next_fork(vproc::current()->host);
  }
  if (uncaught == 0 && stops_here()) {
    handled = nullptr;
    drop(of, child, closure);
  } else if (join::run_catching_amid(std::move(handled), uncaught, of, child.run, closure)) {
    child_threw(of);
  } else if (!vproc::pop(of)) {
    child_returned(of);
  }
  join::bring_exceptions_back(of->scope());
  of->scope()->take_own_control();
}

} // namespace

void check_control(const vproc::worker_deque* deque) noexcept {
  const auto* const self = static_cast<const worker*>(deque);
  NOPAL_ASSERT(
      !vproc::is_worker(self) || self->own_control() ||
          arch::control_words::now() == self->of->control,
      "the floating-point control words (rounding, flush to zero) changed before a fork, "
      "which would not take them along; change them with a nopal::floating_point guard, or "
      "restore them before the fork");
}

NOPAL_SWITCHES bool fork_slow(fork_record* of, const body_calls& child, void* closure) noexcept {
  worker* const self = vproc::current();
  if (!vproc::is_worker(self)) {
    if (in_cancelled_region(of))
      drop_outside(of, child, closure);
    else
      fork_in_new_group(of, child, closure);
    return true;
  }
  if (self->exceptions->alive()) {
    fork_with_own_state(of, child, closure);
    return true;
  }
  push_slow(self, of);
  const bool stops = stops_here();
  if (stops)
    drop(of, child, closure);
  return stops;
}

NOPAL_SWITCHES void child_returned(fork_record* of) noexcept {
  vproc::enter();
  worker* const self = vproc::current();
  if (!self->deque.take_back(of))
    detach(self, of);
  vproc::leave();
}

NOPAL_SWITCHES void child_threw(fork_record* of) noexcept {
  vproc::enter();
  worker* const self = vproc::current();
  const bool ours = vproc::pop(of) || self->deque.take_back(of);
  if (join::attach_failure(of, !ours))
    announce_stop();
  if (!ours)
    detach(self, of);
  vproc::leave();
}

NOPAL_SWITCHES void main_path_waits(arch::context* at, std::uintptr_t left) noexcept {
  vproc::enter();
  auto* const scope = static_cast<scope_frame*>(at);
  worker* const self = vproc::current();
  join::scope_state& state = scope->state();
  NOPAL_ASSERT(
      left == state.stolen_at,
      "scopes of one function were joined out of order, or its frame changed size (alloca) "
      "between a scope's declaration and its join; join scopes in the reverse order of their "
      "declaration");
  state.exceptions = join::take_exception_state();
  state.error = *self->host->error;
  if (self->own_control()) {
    state.control = arch::control_words::now();
    scope->note_own_control();
  }
  note_scheduler_stack(self->host);
  base::end_use(stack::bottom(self->stack), stack::frames_top(self->stack));
  base::happens_before(&state);
  self->use_no_stack();
  if (state.join.arrive())
    schedule(self, signal::joined(scope));
  self->host->count.suspensions.add(1);
  schedule(self, signal::stop());
}

bool finish_children(scope_frame* scope) {
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
  if (std::uncaught_exceptions() != 0)
    base::forget_unwound_frames(); // the throw may have run on another stack than this
  if (std::uncaught_exceptions() == 0)
    return finish_join(scope);
  const join::collected failures = join::collect_failures(scope);
  stop_ended(failures.stops);
  if (failures.first != nullptr)
    join::count_suppressed(1);
}

bool finish_region(join::region_frame* scope) {
  const bool complete = finish_children(scope);
  stop_if_told();
  return complete;
}

void end_region(join::region_frame* scope) {
  if (scope->region->marked())
    stop_ended();
  if (!scope->needs_join())
    return;
  if (std::uncaught_exceptions() != 0)
    finish_join_in_destructor(scope);
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
