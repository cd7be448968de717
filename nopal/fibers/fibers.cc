// SPDX-License-Identifier: MIT
// How a spawned fiber begins on its stack and leaves it, and how its region waits.
#include "nopal/fibers/fibers.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/fibers/places.h"
#include "nopal/join/cancelled.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/park.h"
#include "nopal/sched/schedule.h"
#include "nopal/stack/small.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/ready.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

// Returns the fiber that waits for the computation, if that may go on.
fiber* end_one(computation* in) noexcept {
  base::happens_before(in);
  if (!in->end_one())
    return nullptr;
  base::happens_after(in);
  return in->waiting;
}

// On the scheduler's stack.
[[noreturn]] NOPAL_SWITCHES void fiber_ended(void* argument) noexcept {
  auto* const in = static_cast<computation*>(argument);
  worker* const self = vproc::current();
  sched::note_scheduler_stack(self->host);
  self->use_no_stack();
  base::end_use(stack::bottom(self->stack), stack::frames_top(self->stack));
  if (stack::small::holds(self->stack)) {
    stack::release(self->stack);
    self->stack = stack::no_stack;
  }
  fiber* const waiting = end_one(in);
  if (waiting == nullptr)
    sched::schedule(self, signal::stop());
  if (self->host->actions.get() == nullptr)
    sched::schedule(self, signal::enter(waiting));
  vproc::make_ready(waiting); // which the action must not run in the place of its own
  sched::schedule(self, signal::stop());
}

NOPAL_SWITCHES void call_catching(spawned* one, computation* in) noexcept {
  try {
    one->call(one);
  } catch (const cancelled& caught) {
    caught.note_kept();
    if (one->own.cancels == nullptr || !one->own.cancels->cancelled())
      in->fail(join::handled_exception());
  } catch (...) {
    in->fail(join::handled_exception());
  }
}

// On the fiber's stack.
[[noreturn]] NOPAL_SWITCHES void begin_fiber(void* argument) noexcept {
  auto* const one = static_cast<spawned*>(argument);
  computation* const in = one->own.in;
  vproc::cancel_node* const cancels = one->own.cancels;
  if (cancels == nullptr || !cancels->cancelled())
    call_catching(one, in);
  one->end(one);
  if (cancels != nullptr) {
    sched::forget_context(stack::stack_of(arch::stack_pointer()));
    end_member(cancels);
  }
  vproc::enter();
  worker* const self = vproc::current(); // perhaps not the one that it began on
  base::forget_frames(arch::stack_pointer(), stack::top(self->stack));
  arch::nopal_arch_leave(fiber_ended, in, self->scheduler_stack);
}

void be_born(spawned* one, computation* in) noexcept {
  one->begin = begin_fiber;
  one->of = in->of;
  one->own.in = in;
  one->with = &one->own;
}

} // namespace

void join_computation(spawned* unborn) noexcept {
  const fiber_context* const here = sched::current_context();
  NOPAL_ASSERT(here != nullptr,
               "a fiber was made outside nopal::run, which waits for all fibers; call nopal::spawn "
               "in the function that nopal::run is given, or below that");
  here->in->begin_one();
  be_born(unborn, here->in);
  if ((unborn->own.cancels = here->cancels) != nullptr)
    here->cancels->begin_member();
  unborn->on_small_stack = true;
  unborn->control = unborn->of->control;
}

void run_body(spawned* body, computation* begun) noexcept {
  body->own.in = begun;
  sched::park([body](fiber* caller) {
    computation* const in = body->own.in;
    in->of = caller->of;
    in->waiting = caller;
    be_born(body, in);
    body->control = caller->control;
    body->own_control = caller->own_control;
    body->error = caller->error;
    if (in->chosen == nullptr)
      return signal::enter(body);
    vproc::make_ready(body);
    return signal::stop();
  });
  base::happens_after(begun);
}

void end_fiber(computation* in) noexcept {
  if (fiber* const waiting = end_one(in))
    vproc::make_ready(waiting);
}

void end_member(vproc::cancel_node* node) noexcept { vproc::make_all_ready(node->end_member()); }

void rethrow(std::exception_ptr& thrown_by_body, computation& ended) {
  release_all(ended);
  std::exception_ptr& thrown = thrown_by_body != nullptr ? thrown_by_body : ended.first;
  if (thrown == nullptr)
    return;
  join::begin_suppressed_count(ended.failures() - (thrown_by_body != nullptr ? 0 : 1));
  std::rethrow_exception(std::exchange(thrown, nullptr));
}

void fiber_was_dropped() noexcept {
  base::die("a nopal::fiber was destroyed or forgotten that had not run to its end, so that its "
            "computation would wait for it for ever; start it, or let a scheduler run it");
}

void fiber_was_used() noexcept {
  base::die("a fiber was entered twice: its nopal::fiber is empty, because it was started, run or "
            "moved elsewhere before");
}

void no_fiber_here() noexcept {
  base::die("a nopal::fiber_local was asked for its value outside nopal::run, where there is no "
            "fiber; use it in the function that nopal::run is given, or below that");
}

void yield() noexcept {
  if (vproc::is_worker(vproc::current()))
    sched::give_way();
  else
    base::give_way();
}

} // namespace nopal::inline NOPAL_ABI::fibers
