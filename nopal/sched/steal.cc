// SPDX-License-Identifier: MIT
//
// Work stealing: the slow paths of fork and join, and every change of stacks. No memory order is
// named here; the protocols are deque/, join/ and vproc/parking.h.
//
// Where a strand leaves a stack it does so first, and only then tells anybody that it has: a child
// whose continuation was stolen leaves its parent's stack before it counts itself down, and the
// main path leaves the thief's stack before it arrives at the join, since whoever goes on may use
// the stack at once.
//
// The functions marked NOPAL_SWITCHES do not return to their callers in the ordinary way.
#include "nopal/arch/gdb.h"
#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/sched/entry.h"
#include "nopal/sched/pool.h"
#include "nopal/sched/sched.h"
#include "nopal/sched/thread_bound.h"
#include "nopal/sched/waiting.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {

namespace {

constexpr std::uintptr_t kTopMargin = 64;

// The thief's stack pointer: leaves the frame's outgoing-argument area free below the top of the
// thief's stack (Cilk-M's linkage region) and keeps the alignment. The size of that area is not
// known, so all that lies between the frame's stack pointer and its base is left: the frame pointer
// if that is on the same stack, else (a scope constructed after an earlier steal of its frame) the
// top of the stack it ran on. Both as they were when the scope was constructed: measured from the
// last thief's stack pointer, the area would grow with each steal of a scope.
std::uintptr_t thief_stack_pointer(std::uintptr_t top, const scope_frame* scope) noexcept {
  const std::uintptr_t at = scope->stack_pointer;
  const std::uintptr_t frame = scope->base_of_frame();
  const bool together = !stack::is_ours(at) || stack::together(at, frame);
  const std::uintptr_t base = together ? frame : stack::top(stack::stack_of(at));
  const std::uintptr_t area = base - at + kTopMargin;
  NOPAL_ASSERT(
      area + 2 * arch::alignment < stack::size() / 2 + kTopMargin,
      "a function that forks has a frame of %zu KiB, but only half a stack (%zu KiB) can be "
      "given to a thief for it; raise NOPAL_STACK_SIZE",
      static_cast<std::size_t>(area >> 10), stack::size() >> 11);
  const std::uintptr_t below = top - area - arch::alignment;
  return (below & ~(arch::alignment - 1)) | (at & (arch::alignment - 1));
}

[[noreturn]] NOPAL_SWITCHES void run_stolen(worker* self, scope_frame* scope) noexcept {
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
  const std::uintptr_t top = stack::top(self->stack);
  const std::uintptr_t at = thief_stack_pointer(top, scope);
  base::begin_use(stack::bottom(self->stack), top);
  arch::tell_gdb(top, at);
  base::happens_after(scope);
  scope->note_stolen();
  NOPAL_STEAL_RECORDS_CONTROL(arch::record_control(*scope);)
  scope->stolen_at = at;
  if (scope->exceptions_aside())
    join::bring_exceptions_back(scope);
  base::set_error(self->stolen_error);
  self->deque.adopt(self->stack, top, self->home);
  note_stack(self);
  leave();
  arch::nopal_arch_resume(scope, at);
}

// All strands of the scope have met: the main path goes on where it stopped, on the frame's own
// stack.
[[noreturn]] NOPAL_SWITCHES void resume_joined(worker* self, scope_frame* scope) noexcept {
  base::happens_after(&scope->join);
  const bool awaited = scope == self->home->awaited; // by a guest, which is on the frame's stack
  if (!awaited && !stack::take_back(stack::stack_of(scope->stack_pointer), {scope, self->home}))
    schedule(self);
  scope->join.reset();
  self->count.resumptions.add(1);
  if (awaited) {
    if (self->home == self->at)
      guest_goes_on(self, scope);
    seat* home = self->home;
    home->hand_back(scope);
    wake(self, home);
    schedule(self);
  }
  const stack::stack_id own = stack::stack_of(scope->stack_pointer);
  if (self->stack != own && self->stack != stack::no_stack)
    stack::release(self->stack);
  self->stack = own;
  self->deque.adopt(own, scope->taken_above, self->home);
  join::put_exception_state(scope->exceptions);
  base::set_error(scope->error);
  note_stack(self);
  leave();
  arch::nopal_arch_resume(scope, scope->stack_pointer);
}

// Whether the scope's frame lies on the stack of its child that ran here; else the child was the
// first to use the stack.
bool frame_is_here(const worker* self, const scope_frame* scope) noexcept {
  const std::uintptr_t at = scope->stack_pointer;
  return stack::is_ours(at) && stack::stack_of(at) == self->stack;
}

[[noreturn]] NOPAL_SWITCHES void detach(worker* self, offer* of) noexcept {
  const scope_frame* scope = of->scope;
  check_callers(self);
  check_mutexes(self->at); // now, though this thread may be the one that goes on after the join
  const bool below = frame_is_here(self, scope);
  base::forget_frames(arch::stack_pointer(),
                      below ? scope->stack_pointer : stack::top(self->stack));
  arch::nopal_arch_leave(child_done, of->scope, self->scheduler_stack);
}

void publish_if(deque::attention why, worker* self, offer* newest) noexcept {
  if (why == deque::attention::requested && self->deque.publish(newest, self->home))
    announce_work(self, self->home);
  wait_for_thief(self);
}

void push_slow(worker* self, offer* of) noexcept {
  enter();
  NOPAL_ASSERT(stack::is_ours(reinterpret_cast<std::uintptr_t>(of)) &&
                   stack::stack_of(reinterpret_cast<std::uintptr_t>(of)) == self->stack,
               "a fork was made on another stack than its strand's: in a signal handler, or after "
               "the program had changed stacks (swapcontext, a fiber); fork on the strand's own");
  check_depth(of, self->stack);
  publish_if(self->deque.push_anyway(of), self, of);
  leave();
}

// The whole of a thunk.
NOPAL_SWITCHES void fork_amid_exceptions(offer* of, void (*run)(void*), void* closure) noexcept {
  std::exception_ptr handled = std::current_exception();
  join::set_exceptions_aside(of->scope);
  const unsigned uncaught = of->scope->exceptions.uncaught;
  base::note_fork(of, of->scope); // what was set aside goes with the continuation
  worker* const self = arch::current();
  if (!self->deque.push(of))
    push_slow(self, of);
  if (join::run_child_amid(std::move(handled), uncaught, of, run, closure))
    settle_failed(of);
  else if (!vproc::pop(of))
    settle(of);
  join::bring_exceptions_back(of->scope);
}

} // namespace

NOPAL_SWITCHES bool fork_slow(offer* of, void (*run)(void*), void* closure) noexcept {
  worker* self = arch::current();
  if (!vproc::is_worker(self)) {
    guest_fork(of, run, closure);
    return true;
  }
  if (self->exceptions->alive()) {
    fork_amid_exceptions(of, run, closure);
    return true;
  }
  push_slow(self, of);
  return false;
}

NOPAL_SWITCHES void settle(offer* of) noexcept {
  enter();
  worker* self = arch::current();
  if (!self->deque.take_back(of))
    detach(self, of);
  leave();
}

NOPAL_SWITCHES void settle_failed(offer* of) noexcept {
  enter();
  worker* self = arch::current();
  const bool ours = vproc::pop(of) || self->deque.take_back(of);
  join::attach_failure(of, !ours);
  if (!ours)
    detach(self, of);
  leave();
}

NOPAL_SWITCHES void child_done(void* argument) noexcept {
  auto* scope = static_cast<scope_frame*>(argument);
  worker* self = arch::current();
  note_thread_stack(self->at);
  self->deque.adopt(stack::no_stack, 0, nullptr);
  if (frame_is_here(self, scope)) {
    // The frame lies on the stack just left: it stays with the frame.
    if (!scope->join.last_child())
      stack::retire(scope->stack_pointer);
    self->stack = stack::no_stack;
  } else {
    base::end_use(stack::bottom(self->stack), stack::top(self->stack));
  }
  base::happens_before(&scope->join);
  if (scope->join.child_finished())
    resume_joined(self, scope);
  schedule(self);
}

NOPAL_SWITCHES void schedule(worker* self) noexcept {
  check_mutexes(self->at);
  self = renumbered(self);
  const found next = search(self);
  if (next.finished != nullptr)
    guest_goes_on(self, next.finished);
  if (next.ready != nullptr)
    resume_waiter(self, next.ready);
  self->home = next.home;
  if (next.joined != nullptr)
    resume_joined(self, next.joined);
  run_stolen(self, next.stolen);
}

void occupy(seat* place, std::uintptr_t scheduler_stack) noexcept {
  place->scheduler_stack = scheduler_stack;
  place->thread_fiber = base::this_fiber();
  place->exceptions = join::this_threads_exceptions();
  place->error = base::this_threads_error();
}

NOPAL_SWITCHES void start_pool_thread(worker* self, seat* place,
                                      std::uintptr_t scheduler_stack) noexcept {
  occupy(place, scheduler_stack);
  self->sit(place);
  arch::nopal_self = self;
  enter();
  schedule(self);
}

NOPAL_SWITCHES void note_stack(worker* self) noexcept {
  const stack::stack_id on = self->stack;
  base::allow_call(self->scheduler_stack);
  self->at->thread_stack = base::enter_stack(stack::bottom(on), stack::top(on));
  base::enter_fiber(stack::fiber_of(on));
}

NOPAL_SWITCHES void note_thread_stack(const seat* place) noexcept {
  base::enter_stack(place->thread_stack.low, place->thread_stack.high);
  base::enter_fiber(place->thread_fiber);
}

void finish_join(scope_frame* scope) {
  if (std::exception_ptr first = join::collect_failures(scope))
    std::rethrow_exception(std::move(first));
}

void finish_join_in_destructor(scope_frame* scope) {
  if (std::uncaught_exceptions() != 0)
    base::forget_unwound_frames(); // the throw may have run on another stack than this
  std::exception_ptr first = join::collect_failures(scope);
  if (first == nullptr)
    return;
  if (std::uncaught_exceptions() == 0)
    std::rethrow_exception(std::move(first));
  join::count_suppressed(1);
}

void scope_misused() noexcept {
  base::die(
      "a scope was forked or joined by another function than the one that declares it (a lambda "
      "is a function of its own); declare a scope where it is used");
}

} // namespace nopal::inline NOPAL_ABI::sched

// Called by nopal_arch_suspend, on the scheduler's stack: the main path is at its join, and left
// its stack at `left`.
extern "C" [[noreturn]] NOPAL_SWITCHES void nopal_join_suspend(nopal::arch::context* at,
                                                               std::uintptr_t left) noexcept {
  using namespace nopal;
  sched::enter();
  auto* scope = static_cast<join::scope_frame*>(at);
  sched::worker* self = arch::current();
  NOPAL_ASSERT(
      left == scope->stolen_at,
      "scopes of one function were joined out of order, or its frame changed size (alloca) "
      "between a scope's declaration and its join; join scopes in the reverse order of their "
      "declaration");
  scope->exceptions = join::take_exception_state();
  scope->error = *self->at->error;
  sched::note_thread_stack(self->at);
  base::end_use(stack::bottom(self->stack), stack::top(self->stack));
  base::happens_before(&scope->join);
  self->deque.adopt(stack::no_stack, 0, nullptr);
  if (scope->join.arrive())
    sched::resume_joined(self, scope);
  self->count.suspensions.add(1);
  sched::schedule(self);
}
