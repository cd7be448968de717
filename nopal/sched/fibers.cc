// SPDX-License-Identifier: MIT
// How a spawned fiber begins on its stack and leaves it, and how its region waits.
#include "nopal/sched/fibers.h"

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/entry.h"
#include "nopal/sched/park.h"
#include "nopal/sched/schedule.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

computation* current_computation() noexcept {
  worker* const self = vproc::current();
  return vproc::is_worker(self) ? computation_at(self->stack) : nullptr;
}

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
  note_scheduler_stack(self->host);
  self->deque.adopt(stack::no_stack, 0, nullptr);
  base::end_use(stack::bottom(self->stack), stack::top(self->stack));
  fiber* const waiting = end_one(in);
  schedule(self, waiting == nullptr ? signal::stop() : signal::preempt(waiting));
}

NOPAL_SWITCHES void call_catching(spawned* one, computation* in) noexcept {
  try {
    one->call(one);
  } catch (...) {
    in->fail(join::handled_exception());
  }
}

// On the fiber's stack.
[[noreturn]] NOPAL_SWITCHES void begin_fiber(void* argument) noexcept {
  auto* const one = static_cast<spawned*>(argument);
  computation* const in = one->in;
  call_catching(one, in);
  enter();
  worker* const self = vproc::current(); // perhaps not the one that it began on
  base::forget_frames(arch::stack_pointer(), stack::top(self->stack));
  arch::nopal_arch_leave(fiber_ended, in, self->scheduler_stack);
}

} // namespace

void spawn(spawned* unborn) noexcept {
  computation* const in = current_computation();
  NOPAL_ASSERT(in != nullptr, "nopal::spawn was called outside nopal::run, which waits for fibers; "
                              "call it in the function that nopal::run is given, or below that");
  in->begin_one();
  unborn->begin = begin_fiber;
  unborn->in = in;
  unborn->of = in->of;
  unborn->control = unborn->of->control;
  make_ready(unborn);
}

void run_body(spawned* body, computation* begun) noexcept {
  body->in = begun;
  park([body](fiber* caller) -> fiber* {
    body->in->of = caller->of;
    body->in->waiting = caller;
    body->begin = begin_fiber;
    body->of = caller->of;
    body->control = caller->control;
    body->own_control = caller->own_control;
    body->error = caller->error;
    return body;
  });
  base::happens_after(begun);
}

bool on_strand() noexcept { return vproc::is_worker(vproc::current()); }

void rethrow(std::exception_ptr& thrown_by_body, computation& ended) {
  std::exception_ptr& thrown = thrown_by_body != nullptr ? thrown_by_body : ended.first;
  if (thrown == nullptr)
    return;
  join::begin_suppressed_count(ended.failures() - (thrown_by_body != nullptr ? 0 : 1));
  std::rethrow_exception(std::exchange(thrown, nullptr));
}

void yield() noexcept {
  if (!vproc::is_worker(vproc::current()))
    return base::give_way();
  if (!any_ready(vproc::current()->host->bound))
    return;
  park([](fiber* strand) -> fiber* {
    make_ready(strand);
    return nullptr;
  });
}

} // namespace nopal::inline NOPAL_ABI::sched
