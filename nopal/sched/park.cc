// SPDX-License-Identifier: MIT
// How a strand leaves its thread in the middle of something, and how a vproc resumes it.
#include "nopal/sched/park.h"

#include "nopal/arch/gdb.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/cancel.h"
#include "nopal/sched/entry.h"
#include "nopal/sched/idle.h"
#include "nopal/sched/places.h"
#include "nopal/sched/pool.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/table.h"
#include "nopal/sched/timer.h"
#include "nopal/stack/small.h"
#include "nopal/vproc/computation.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::sched {

vproc::suspended_workers<worker> suspended;

namespace {

alignas(64) vproc::shared_queue<fiber> ready;

auto of_group(const group* wanted) noexcept {
  return [wanted](const fiber* strand) {
    return strand->of == wanted || (wanted == nullptr && !strand->of->closed);
  };
}

bool is_pinned(const fiber* strand) noexcept {
  return strand->with != nullptr && strand->with->pinned != nullptr;
}

bool may_run(const vproc::vproc* here, const fiber* strand) noexcept {
  return of_group(here->bound)(strand);
}

void wait_as_thread(fiber& here) noexcept {
  const int error = *base::this_threads_error();
  if (here.enqueue(&here, here.argument).what == signal::kind::stop)
    here.waker.wait();
  base::happens_after(&here);
  base::set_error(error);
}

// The vproc of `left` takes another worker, and thieves find `left` among the suspended. The list
// comes first: a sleeper that looks at the vprocs' workers and then at the suspended misses none.
worker* leave_with_forks(worker* left, fiber* strand) noexcept {
  strand->left = left;
  left->set_error_at(&strand->error);
  suspended.add(left);
  return replace_worker(left);
}

// The converse. What others asked of the worker that had this place was not asked of `left`, so its
// forks are announced.
void take_over(worker* self, worker* left) noexcept {
  suspended.remove(left);
  put_back_worker(self, left);
  announce_work(left, left->of);
}

void restore_state(worker* self, fiber* strand) noexcept {
  strand->control.use();
  self->set_own_control(strand->own_control);
  join::put_exception_state(strand->exceptions);
  base::set_error(strand->error);
}

// On the vproc's empty stack, or a new one: the strand may be what others wait for, so it takes one
// beyond the thieves' share.
[[noreturn]] NOPAL_SWITCHES void begin(worker* self, fiber* strand) noexcept {
  if (strand->on_small_stack && stack::small::capacity() != 0) {
    if (self->stack != stack::no_stack)
      stack::release(self->stack);
    self->stack = stack::small::acquire();
  } else if (self->stack == stack::no_stack) {
    self->stack = stack::acquire();
  }
  const std::uintptr_t top = stack::top(self->stack);
  const std::uintptr_t at = top - stack::top_margin;
  base::begin_use(stack::bottom(self->stack), stack::frames_top(self->stack));
  arch::tell_gdb(top, at);
  set_origin(self->stack, strand->with);
  self->of = strand->of;
  self->adopt_at_first_fork(top);
  restore_state(self, strand);
  look_at_next_fork(self->host);
  note_stack(self);
  leave();
  arch::nopal_arch_leave(strand->begin, strand, at);
}

// Wakes the strand that waits on this stack, if it is to stop.
void wake_if_cancelled(stack::stack_id on) noexcept {
  vproc::wait_word& word = wait_word_of(on);
  auto* const strand = static_cast<fiber*>(word.hold());
  if (strand == nullptr)
    return;
  do {
    if (strand->exceptions.uncaught == 0 && is_to_stop(strand->stack_pointer, strand->left) &&
        strand->waits->claim(vproc::choice::cancelled))
      make_ready(strand);
  } while (!word.let_go(strand));
}

// The strand may have been woken when this returns.
signal enqueue_findable(vproc::vproc* here, fiber* strand) noexcept {
  const stack::stack_id on = stack::stack_of(strand->stack_pointer);
  here->waits.begin(); // before it can be woken and end
  wait_word_of(on).begin(strand);
  const signal told = strand->enqueue(strand, strand->argument);
  if (told.what == signal::kind::enter) {
    wait_word_of(on).retract();
    return told;
  }
  wait_word_of(on).publish(strand);
  if (anything_stops())
    wake_if_cancelled(on);
  return told;
}

// On the scheduler's stack.
[[noreturn]] NOPAL_SWITCHES void strand_waits(arch::context* at, std::uintptr_t) noexcept {
  enter();
  auto* const strand = static_cast<fiber*>(at);
  worker* self = vproc::current();
  vproc::vproc* const here = self->host;
  strand->of = self->of;
  strand->on = self->stack;
  strand->with = context_at(strand->stack_pointer);
  strand->exceptions = join::take_exception_state();
  strand->error = *here->error;
  strand->control = arch::control_words::now();
  strand->own_control = self->own_control();
  note_scheduler_stack(here);
  if (self->give_back(strand->stack_pointer, strand->split))
    self->stack = stack::no_stack;
  else
    self = leave_with_forks(self, strand);
  // The vproc gets a stack beyond the thieves' share: the strand may be waiting for another one,
  // which could not run if this vproc had to wait for a stack.
  if (stack::may_run_out() && self->stack == stack::no_stack)
    self->stack = stack::acquire();
  if (!strand->stack_in_use)
    stack::retire(strand->stack_pointer);
  base::happens_before(strand);
  if (strand->waits != nullptr)
    schedule(self, enqueue_findable(here, strand));
  schedule(self, strand->enqueue(strand, strand->argument));
}

// A policy is asked as code of no strand: what it calls must not change stacks.
void give(vproc::policy* to, fiber* strand) noexcept {
  const worker* const caller = vproc::current();
  const std::uint32_t number = vproc::is_worker(caller) ? caller->host->number : 0;
  arch::runner* const self = std::exchange(arch::nopal_self, &vproc::no_worker);
  const bool entered = enter_if_outside();
  to->give(to, strand, number);
  leave_if(entered);
  arch::nopal_self = self;
  want_ticks();
}

// A strand goes on that may have been switched to.
void settle() noexcept { vproc::current()->host->ready.settle(); }

// Every 64th time the fibers that all vprocs share come first, if there are any.
bool may_switch(const vproc::vproc* here) noexcept {
  return here->may_switch() && !(here->looks_further() && !ready.empty());
}

// The short way between two strands of one group that have no open forks, no exceptions alive and
// no control words of their own. The stack that is left counts as in use: its strand is ready.
NOPAL_SWITCHES bool switch_to_next(worker* self) noexcept {
  vproc::vproc* const here = self->host;
  if (self->late_split == 0 || self->exceptions->alive() || !may_switch(here) ||
      arch::control_words::now() != self->of->control || anything_stops())
    return false;
  fiber left;
  left.of = self->of;
  left.on = self->stack;
  left.with = context_of(self->stack);
  left.split = self->late_split;
  left.control = self->of->control;
  left.error = *here->error;
  left.stack_in_use = true;
  fiber* const next = here->ready.leave_for_next(&left, [&left](const fiber* one) {
    return one->stack_in_use && one->left == nullptr && one->of == left.of &&
           !one->exceptions.alive() && !one->own_control && one->control == left.control;
  });
  if (next == nullptr)
    return false;
  self->stack = next->on;
  self->late_split = next->split;
  *here->error = next->error;
  arch::nopal_arch_switch(&left, next);
  settle();
  return true;
}

NOPAL_SWITCHES void wait_ready(bool turn_ended) noexcept {
  fiber here;
  here.enqueue = [](fiber* strand, void*) { return signal::preempt(strand); };
  here.stack_in_use = true;
  here.turn_ended = turn_ended;
  arch::nopal_arch_park(&here, strand_waits);
  settle();
}

} // namespace

NOPAL_SWITCHES void park(signal (*enqueue)(fiber*, void*), void* argument) noexcept {
  fiber here;
  here.enqueue = enqueue;
  here.argument = argument;
  if (!vproc::is_worker(vproc::current()))
    return wait_as_thread(here);
  arch::nopal_arch_park(&here, strand_waits);
  settle();
}

NOPAL_SWITCHES bool park_or_stop(vproc::choice& waits, signal (*enqueue)(fiber*, void*),
                                 void (*withdraw)(fiber*, void*), void* argument) noexcept {
  if (!vproc::is_worker(vproc::current())) {
    park(enqueue, argument);
    return true;
  }
  fiber here;
  here.enqueue = enqueue;
  here.argument = argument;
  here.waits = &waits;
  arch::nopal_arch_park(&here, strand_waits);
  vproc::current()->host->waits.end();
  wait_word_of(stack::stack_of(here.stack_pointer)).end(&here);
  settle();
  if (waits.taken() != vproc::choice::cancelled)
    return true;
  withdraw(&here, argument);
  return false;
}

void wake_cancelled() noexcept {
  const auto counts_of = [](std::uint32_t number) -> const auto& {
    return vproc_at(number)->waits;
  };
  if (!vproc::any_waits(vprocs_ever(), counts_of))
    return;
  for (std::uint32_t i = 0; i < stack::created_stacks(); ++i)
    if (stack::is_usable(i))
      wake_if_cancelled(stack::stack_number(i));
  for (std::uint32_t i = 0; i < stack::small::created(); ++i)
    if (stack::small::is_usable(i))
      wake_if_cancelled(stack::small::in_use.start(i));
}

NOPAL_SWITCHES void give_way() noexcept {
  worker* const self = vproc::current();
  if (switch_to_next(self))
    return;
  if (self->host->actions.get() != nullptr || any_ready(self->host))
    wait_ready(false);
}

NOPAL_SWITCHES void end_turn() noexcept { wait_ready(true); }

void make_ready(fiber* strand) noexcept {
  base::happens_before(strand);
  group* const of = strand->of;
  if (of == nullptr)
    return strand->waker.wake();
  const vproc::fiber_context* const with = strand->with;
  worker* const self = vproc::current();
  const bool here = vproc::is_worker(self) && may_run(self->host, strand);
  const bool pinned = is_pinned(strand);
  if (pinned && !(here && self->host == with->pinned))
    return enqueue_on(with->pinned, strand);
  if (!pinned && with != nullptr && with->in->chosen != nullptr)
    return give(with->in->chosen, strand);
  if (here && (pinned || !strand->turn_ended)) {
    self->host->ready.add(strand);
    announce_ready(self, of);
  } else {
    ready.add(strand);
    announce_work(nullptr, of);
  }
  want_ticks();
}

// Each queue comes first now and then: another one might never be empty.
fiber* take_ready(vproc::vproc* here) noexcept {
  const auto wanted = of_group(here->bound);
  const auto sent = [&] { return here->remote.take(wanted); };
  const auto own = [&] { return here->ready.take(); };
  const auto shared = [&] { return ready.take(wanted); };
  const auto first_of = [](auto... from) {
    fiber* first = nullptr;
    static_cast<void>(((first = from()) || ...));
    return first;
  };
  const bool shared_first =
      virtual_workers() > 1 ? here->random.below(2) == 0 : here->looks_further();
  const bool own_first = here->ready.turns() % 64 == 31;
  here->ready.begin_turn();
  return shared_first ? first_of(shared, sent, own)
         : own_first  ? first_of(own, sent, shared)
                      : first_of(sent, own, shared);
}

bool any_ready(vproc::vproc* here) noexcept {
  const auto wanted = of_group(here->bound);
  return !here->ready.empty() || here->remote.holds(wanted) || ready.holds(wanted);
}

bool any_ready_of(const group* wanted) noexcept { return ready.holds(of_group(wanted)); }

std::uint32_t seem_ready(const vproc::vproc* of) noexcept {
  return of->ready.count() + of->remote.count() + ready.count();
}

fiber* steal_ready(vproc::vproc* here, ready_seen& before) noexcept {
  fiber* got = nullptr;
  ready_seen now;
  any_other_vproc(here, [&](vproc::vproc* victim) {
    if (victim->ready.empty())
      return false;
    now.turns += victim->ready.turns();
    now.there = true;
    if (before.there && before.turns == now.turns)
      got = victim->ready.steal([wanted = of_group(here->bound)](const fiber* one) {
        return wanted(one) && !is_pinned(one);
      });
    return got != nullptr;
  });
  before = now;
  return got;
}

void share_ready(vproc::vproc* here) noexcept {
  while (fiber* const one = here->ready.take()) {
    if (is_pinned(one)) {
      here->remote.add(one);
      continue;
    }
    ready.add(one);
    announce_work(nullptr, one->of);
  }
}

NOPAL_SWITCHES void run(worker* self, fiber* strand) noexcept {
  base::happens_after(strand);
  if (strand->begin != nullptr)
    begin(self, strand);
  const stack::stack_id own = stack::stack_of(strand->stack_pointer);
  if (!stack::reuse(own, {strand, nullptr}))
    return;
  if (strand->left != nullptr) {
    take_over(self, strand->left);
    self = strand->left;
  } else {
    if (self->stack != stack::no_stack)
      stack::release(self->stack);
    self->stack = own;
    self->of = strand->of;
    self->adopt_at_first_fork(strand->split);
  }
  restore_state(self, strand);
  look_at_next_fork(self->host);
  note_stack(self);
  leave();
  arch::nopal_arch_resume(strand, strand->stack_pointer);
}

} // namespace nopal::inline NOPAL_ABI::sched
