// SPDX-License-Identifier: MIT
// The decision, and what follows: a vproc resumes a stolen continuation, or a main path after its
// join. No memory order is named here; the protocols are in deque/, join/ and vproc/.
//
// The functions marked NOPAL_SWITCHES do not return to their callers in the ordinary way.
#include "nopal/sched/schedule.h"

#include "nopal/arch/gdb.h"
#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/groups.h"
#include "nopal/sched/park.h"
#include "nopal/sched/pool.h"
#include "nopal/sched/steal.h"
#include "nopal/sched/stop.h"
#include "nopal/sched/views.h"
#include "nopal/vproc/affine_note.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/thread_bound.h"
#include "nopal/vproc/timer.h"
#include "nopal/vproc/wake.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// The thief's stack pointer. Below the top of the thief's stack it leaves the frame's area of
// outgoing arguments free (Cilk-M's linkage region), and it keeps the alignment. The size of that
// area is not known, but it ends below the scope, which is a local variable. If the scope is on
// another stack (it was constructed after an earlier steal of its frame), the area ends below the
// top of the stack that the frame ran on. Both are as they were when the scope was constructed:
// measured from the last thief's stack pointer, the area would grow with each steal.
std::uintptr_t thief_stack_pointer(stack::stack_id empty, const scope_frame* scope) noexcept {
  const std::uintptr_t at = scope->stack_pointer;
  const auto local = reinterpret_cast<std::uintptr_t>(scope);
  const bool together = !stack::is_ours(at) || stack::together(at, local);
  const std::uintptr_t end = together ? local : stack::top(stack::stack_of(at));
  const std::uintptr_t frame = (together ? scope->base_of_frame() : end) - at;
  NOPAL_ASSERT(
      frame + 2 * arch::alignment < stack::largest_frame(),
      "a function that forks has a frame of %zu KiB, but only half a stack (%zu KiB) can be "
      "given to a thief for it; raise NOPAL_STACK_SIZE",
      static_cast<std::size_t>(frame >> 10), stack::largest_frame() >> 10);
  const std::uintptr_t below = stack::frames_top(empty) - (end - at);
  return below - ((below - at) & (arch::alignment - 1));
}

// What the scheduler has called, or a signal handler on its thread, may have called fork().
void check_process(const worker* self) noexcept {
  if (self->host->made_in != base::this_process) [[unlikely]]
    base::lost_in_child();
}

// An action is asked as code of no strand: what it calls must not change stacks.
signal ask(worker* self, vproc::action* asked, signal received) noexcept {
  asked->pushed = false;    // the action may push itself again, and decides for this vproc alone
  asked->host = self->host; // check_asked (fibers/actions.cc) and push read these two
  self->host->asked = asked;
  arch::nopal_self = &vproc::no_worker; // a fork of the action finds no worker (vproc/entry.h)
  const signal answer = asked->receive(asked, received); // may be the end of the action
  check_process(self);
  arch::nopal_self = self;
  self->host->asked = nullptr;
  return answer;
}

// Whether the vproc, at a tick, begins with what waiting strands have forked, rather than with a
// ready strand. After that each ready strand has a turn before it does so again: otherwise
// alternatives that begin others for ever would keep those that have begun from their turns.
bool begins_another(vproc::vproc* host) noexcept {
  if (!vproc::any_alternatives())
    return false;
  if (host->turns_owed != 0) {
    --host->turns_owed;
    return false;
  }
  host->turns_owed = vproc::seem_ready(host);
  return true;
}

// The main path was stolen before, so its scope forks in a loop. Who ends a child steals the
// continuation next, and finds it public. Not if the children are shorter than a steal.
void expect_thief(worker* self) noexcept {
  const auto expect = [](auto& deque) { // generic, so that a baseline's deque need not have it
    if constexpr (requires { deque.expect_thief(); })
      deque.expect_thief();
  };
  expect(self->deque);
}

// The scope's main path goes on on the worker's stack.
void note_main_path(const worker* self, const scope_frame* scope) noexcept {
  if (base::strands_apart) [[unlikely]]
    stack::set_fiber(self->stack, base::main_path_of(scope));
}

// Each `resume` resumes a strand and does not return, but in two cases: the strand's stack is being
// reclaimed, and the reclaimer resumes it; or another thread, which was woken, resumes it. `self`
// has no stack, or an empty one.
NOPAL_SWITCHES void resume(worker* self, stolen theft) noexcept {
  NOPAL_CHECK(self->partials == nullptr);
  self->group = theft.group; // the fork's, also for a vproc that is bound to no group
  NOPAL_CHECK(self->stack != stack::no_stack || !stack::may_run_out());
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
  see_below(join::place_of(theft.continuation), self->stack);
  scope_frame* const scope = join::scope_of(theft.continuation);
  base::happens_after(scope);
  const std::uintptr_t top = stack::top(self->stack);
  const std::uintptr_t at = thief_stack_pointer(self->stack, scope);
  note_first_frame(self);
  arch::tell_gdb(top, at);
  set_origin(self->stack, scope);
  // The thief owns the scope from its steal to its join, so it writes the scope's state alone.
  scope->note_stolen();
  scope->state().stolen_at = at;
  vproc::put_control(self, scope->state().strand.control, scope->take_own_control());
  if (scope->exceptions_aside())
    join::bring_exceptions_back(scope);
  base::set_error(self->error);
  self->adopt(self->stack, top, self->group);
  if (scope->steals() > 1 && self->host->vain.last_was_long())
    expect_thief(self);
  look_at_next_fork(); // the vproc's signal may have been taken for another strand
  note_main_path(self, scope);
  note_stack(self);
  vproc::leave();
  arch::nopal_arch_resume(scope, at);
}

// All strands of the scope have met: the main path goes on where it stopped, on the frame's own
// stack.
NOPAL_SWITCHES void resume(worker* self, joined arrival) noexcept {
  scope_frame* const scope = arrival.main_path;
  self->group = arrival.group;
  base::happens_after(&scope->state());
  // A root scope lies on the stack of the thread that waits for it, and only that thread resumes
  // it.
  const bool root = scope == arrival.group->root;
  const stack::stack_id own = stack::stack_of(scope->stack_pointer);
  if (!root && !stack::reuse(own, {join::name_of(scope), arrival.group}))
    return;
  scope->state().join.reset(); // before the main path goes on, which may fork in the scope again
  self->host->count.resumptions.add(1);
  if (root && self->host->bound.get() == arrival.group && !self->host->member.get() &&
      self->host->actions.empty())
    return run(self, finished_root{scope});
  if (root) {
    arrival.group->finish(scope); // the scope is the waiting thread's from now on
    return vproc::wake(self, arrival.group->parking);
  }
  if (self->stack != own && self->stack != stack::no_stack)
    stack::release(self->stack);
  self->stack = own;
  see_joined(join::place_of(join::name_of(scope)));
  self->adopt(own, scope->state().taken_above, self->group);
  vproc::put_strand_state(self, scope->state().strand, scope->take_own_control());
  look_at_next_fork();
  note_main_path(self, scope);
  note_stack(self);
  vproc::leave();
  arch::nopal_arch_resume(scope, scope->stack_pointer);
}

// The frame in which a pool thread began, and the worker that its vproc ran last.
struct pool_thread_frame : arch::context {
  worker* last = nullptr;
};

// The thread goes on where it began, on the same stack: the scheduler's frames below it end.
NOPAL_SWITCHES void resume(worker* self, pool_ended) noexcept {
  auto* const frame = static_cast<pool_thread_frame*>(self->host->beginning);
  frame->last = self; // the next thread of this vproc runs it
  self->host->runs.set(false);
  vproc::leave_to_next_thread(self);
  vproc::leave();
  arch::nopal_self = &vproc::no_worker;
  base::forget_frames(arch::stack_pointer(), frame->stack_pointer);
  arch::nopal_arch_resume(frame, frame->stack_pointer);
}

// The vproc's own scheduler: it answers below all actions.
NOPAL_SWITCHES signal work(worker* self, signal received) noexcept {
  check_process(self);
  const bool preempted = received.tag == signal::kind::preempt;
  if (preempted)
    vproc::make_ready(received.strand);
  const next_step next = find_work(self, preempted && begins_another(self->host));
  if (fiber* const* const strand = std::get_if<fiber*>(&next))
    return signal::enter(*strand);
  if (const auto* const theft = std::get_if<stolen>(&next))
    resume(self, *theft);
  else if (const auto* const arrival = std::get_if<joined>(&next))
    resume(self, *arrival);
  else if (const auto* const root = std::get_if<finished_root>(&next))
    run(self, *root);
  else
    resume(self, pool_ended{});
  return signal::stop();
}

// Does not return if it resumes a strand. Else returns the next signal: an action's answer, or
// `stop` if another thread resumes the strand.
NOPAL_SWITCHES signal answer(worker* self, signal received) noexcept {
  vproc::action* asked = nullptr;
  switch (received.tag) {
  case signal::kind::enter:
    if (received.strand->starts == nullptr) {
      run(self, received.strand);
      return signal::stop();
    }
    asked = std::exchange(received, signal::stop()).strand->starts;
    break;
  case signal::kind::joined:
    vproc::give_back_units(self->host);
    resume(self, joined{received.scope, self->group});
    return signal::stop();
  case signal::kind::stop:
  case signal::kind::preempt:
    if (!self->host->actions.empty()) [[unlikely]]
      asked = self->host->actions.pop(); // before it is asked, so that it may push itself
    break;
  }
  if (!self->host->units.held_for(asked)) [[unlikely]]
    vproc::give_back_units(self->host);
  return asked != nullptr ? ask(self, asked, received) : work(self, received);
}

// Called on the scheduler's stack.
[[noreturn]] NOPAL_SWITCHES void begin_pool_thread(arch::context*, std::uintptr_t) noexcept {
  schedule(vproc::current(), signal::stop());
}

// The body of a pool thread.
NOPAL_SWITCHES worker* run_pool_thread(worker* self) noexcept {
  vproc::vproc* const host = self->host;
  pool_thread_frame frame;
  host->beginning = &frame; // the frame lives until the thread ends
  host->runs.set(true);     // it may find a strand before it searches
  place_scheduler(host);
  self->run_on(host);
  vproc::enter();
  arch::nopal_arch_park(&frame, begin_pool_thread);
  return frame.last;
}

} // namespace

NOPAL_SWITCHES void schedule(worker* self, signal received) noexcept {
  vproc::check_mutexes(self->host);
  // The next strand begins its turn, so a request to preempt the one before it is void.
  if (self->host->signals.maybe_raised(sync::preempt_requested))
    vproc::heed_preemption(self->host);
  for (;;)
    received = answer(self, received);
}

void push_action(vproc::vproc* host, vproc::action* pushed) noexcept {
  NOPAL_ASSERT(!pushed->pushed,
               "a scheduler action was run while it waited for a signal already, of "
               "a fiber on this vproc or another; each vproc needs an action of "
               "its own");
  pushed->pushed = true;
  host->actions.push(pushed);
}

NOPAL_SWITCHES void child_ended(void* argument) noexcept {
  auto* const scope = static_cast<scope_frame*>(argument);
  worker* const self = vproc::current();
  vproc::leave_affine_call(self);
  if (base::strands_apart) [[unlikely]]
    base::end_detached_child(scope);
  note_scheduler_stack(self->host);
  self->use_no_stack();
  if (self->holds_frame_of(scope)) {
    // The stack stays with the frame. The pages below the frame may be given back.
    if (!scope->state().join.last_child())
      stack::retire(self->stack, scope->stack_pointer);
    self->stack = stack::no_stack;
  } else {
    displace_stack(self->stack);
    note_empty_stack(self);
  }
  base::happens_before(&scope->state());
  schedule(self, scope->state().join.child_finished() ? signal::joined(scope) : signal::stop());
}

NOPAL_SWITCHES void go_on_as_thief(void* argument) noexcept {
  auto* const scope = static_cast<scope_frame*>(argument);
  worker* const self = vproc::current();
  vproc::leave_affine_call(self);
  if (base::strands_apart) [[unlikely]]
    base::end_detached_child(scope);
  note_scheduler_stack(self->host);
  displace_stack(self->stack);
  note_empty_stack(self);
  base::happens_before(&scope->state());
  self->error = *self->host->error;
  static_cast<void>(
      scope->state().join.child_finished()); // false: the main path is not at its join
  resume(self, stolen{join::name_of(scope), self->group});
}

void place_scheduler(vproc::vproc* host) noexcept {
  constexpr std::uintptr_t gap = 1024; // between the caller's frames and the scheduler's
  host->scheduler = {
      (arch::stack_pointer() - gap) & ~std::uintptr_t{63}, base::scheduler_fiber(), {0, 0}};
  host->exceptions = join::this_threads_exceptions();
  host->error = base::this_threads_error();
}

void start_pool() noexcept { start(run_pool_thread); }

NOPAL_SWITCHES void tell_stack(worker* self) noexcept {
  const stack::stack_id on = self->stack;
  base::allow_call(self->scheduler_stack);
  self->host->scheduler.bounds =
      base::enter_stack(stack::bottom(on), stack::top(on), stack::fiber_of(on));
  if (base::strands_apart)
    base::end_wait();
}

NOPAL_SWITCHES void hide_on_stack(const worker* self) noexcept {
  base::begin_wait();
  if (self->stack != stack::no_stack)
    stack::set_fiber(self->stack, base::this_strand());
}

NOPAL_SWITCHES void tell_scheduler_stack(const vproc::vproc* host) noexcept {
  base::enter_stack(host->scheduler.bounds.low, host->scheduler.bounds.high, host->scheduler.fiber);
}

} // namespace nopal::inline NOPAL_ABI::sched
