// SPDX-License-Identifier: MIT
//
// How a strand leaves its thread in the middle of something, and how another thread goes on with
// it.
#include "nopal/sched/waiting.h"

#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/sched/entry.h"

namespace nopal::inline NOPAL_ABI::sched {

NOPAL_SWITCHES void suspend(bool (*enqueue)(waiter*, void*), void* argument) noexcept {
  waiter here;
  here.enqueue = enqueue;
  here.argument = argument;
  if (!vproc::is_worker(arch::current()))
    return wait_as_thread(here);
  arch::nopal_arch_park(&here);
}

NOPAL_SWITCHES worker* renumbered(worker* self) noexcept {
  if (!self->at->pool || !lower_one_is_unused(self))
    return self;
  seat* const place = self->at;
  if (self->stack != stack::no_stack)
    stack::release(self->stack);
  self->stack = stack::no_stack;
  return_worker(self);
  worker* const now = take_worker();
  now->sit(place);
  arch::nopal_self = now;
  return now;
}

NOPAL_SWITCHES void resume_waiter(worker* self, waiter* strand) noexcept {
  base::happens_after(strand);
  worker* const left = strand->left;
  if (!stack::take_back(left->stack, {errand_of(strand), left->home}))
    schedule(self);
  seat* const place = self->at;
  return_worker(self);
  left->sit(place);
  arch::nopal_self = left;
  join::put_exception_state(strand->exceptions);
  base::set_error(strand->error);
  note_stack(left);
  leave();
  arch::nopal_arch_resume(strand, strand->stack_pointer);
}

} // namespace nopal::inline NOPAL_ABI::sched

// Called by nopal_arch_park, on the scheduler's stack.
extern "C" [[noreturn]] NOPAL_SWITCHES void nopal_strand_waits(nopal::arch::context* at) noexcept {
  using namespace nopal;
  sched::enter();
  auto* const strand = static_cast<sched::waiter*>(at);
  sched::worker* const left = arch::current();
  sched::seat* const place = left->at;
  strand->left = left;
  strand->exceptions = join::take_exception_state();
  strand->error = *place->error;
  sched::note_thread_stack(place);
  sched::worker* const self = sched::take_worker();
  self->sit(place);
  self->home = left->home;
  left->at = nullptr;
  left->set_error_at(&strand->error);
  arch::nopal_self = self;
  // The stack that is left is not counted among those that thieves may have: the strand may wait
  // for one that no thief could go on with.
  if (stack::may_run_out() && self->stack == stack::no_stack)
    self->stack = stack::acquire();
  stack::retire(strand->stack_pointer);
  base::happens_before(strand);
  if (!strand->enqueue(strand, strand->argument))
    sched::resume_waiter(self, strand);
  sched::schedule(self);
}
