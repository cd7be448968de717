// SPDX-License-Identifier: MIT
// How a strand parks, and how a vproc resumes it.
#include "nopal/sched/park.h"

#include "nopal/arch/gdb.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/deadlock.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/stop.h"
#include "nopal/sched/views.h"
#include "nopal/stack/small.h"
#include "nopal/vproc/affine_note.h"
#include "nopal/vproc/computation.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/wake.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// A thread that runs no strands waits itself. Its errno is unchanged, as a strand's is.
void wait_as_thread(fiber& waiting) noexcept {
  const int error = *base::this_threads_error();
  waiting.waits_in = base::this_process;
  if (waiting.enqueue(&waiting, waiting.argument).tag == signal::kind::stop) {
    const thread_that_waits noted{waiting.waits};
    waiting.waker.wait();
  }
  base::happens_after(&waiting);
  base::set_error(error);
}

// The vproc of `left` takes another worker, and thieves find `left` among the suspended. The list
// comes first: a sleeper that looks at the vprocs' workers and then at the suspended misses none.
worker* leave_with_forks(worker* left, fiber* strand) noexcept {
  strand->left = left;
  left->error = strand->state.error;
  left->deque.error.set(&left->error); // before the list has the worker, whose thieves read it
  vproc::suspended.add(left);
  return vproc::replace_worker(left);
}

// The converse. Sleepers have asked the worker that had this slot, not `left`, so the forks of
// `left` are announced.
void take_over(worker* self, worker* left) noexcept {
  base::set_error(left->error); // for those who steal from `left` before the strand goes on
  vproc::suspended.remove(left);
  vproc::put_back_worker(self, left);
  vproc::announce_work(left, left->group);
}

// The strand goes on, or begins, on the worker's stack.
NOPAL_SWITCHES void note_strand(worker* self, fiber* strand) noexcept {
  note_stack(self);
  if (base::strands_apart) [[unlikely]]
    base::happens_after(strand); // its waker; before it went on, the scheduler had no part in it
}

// Begins a new fiber on the vproc's empty stack, or on a new one. Others may wait for this strand,
// so it may take a stack beyond the thieves' share.
[[noreturn]] NOPAL_SWITCHES void begin(worker* self, fiber* strand) noexcept {
  if (strand->on_small_stack && stack::small::capacity() != 0) {
    if (self->stack != stack::no_stack)
      stack::release(self->stack);
    self->stack = self->host->small_stacks.acquire();
  } else if (self->stack == stack::no_stack) {
    self->stack = stack::acquire();
  }
  if (stack::view::on() && !stack::small::holds(self->stack))
    stack::view::begin_plain(self->stack);
  see(self->stack, strand->context);
  const std::uintptr_t top = stack::top(self->stack);
  const std::uintptr_t at = stack::frames_top(self->stack);
  note_first_frame(self);
  arch::tell_gdb(top, at);
  set_origin(self->stack, strand->context);
  self->group = strand->group;
  self->adopt_at_first_fork(top);
  vproc::put_strand_state(self, strand->state, strand->own_control);
  look_at_next_fork();
  if (base::strands_apart) [[unlikely]]
    stack::set_fiber(self->stack, base::begin_strand());
  note_strand(self, strand);
  vproc::leave();
  arch::nopal_arch_leave(strand->begin, strand, at);
}

// Enqueues a strand that a canceller may wake (sync/README.md, Q1 to Q6). The strand may run again
// before this returns, so nothing of its frame is read after `enqueue` but through its wait word.
signal enqueue_findable(fiber* strand) noexcept {
  const stack::stack_id on = strand->on;
  place_stack(on, strand->stack_pointer); // before it can be woken and end
  sync::wait_word& word = wait_word_of(on);
  word.begin(strand);
  const signal answer = strand->enqueue(strand, strand->argument);
  if (answer.tag == signal::kind::enter) {
    word.retract();
    return answer;
  }
  word.publish(strand);
  if (anything_stops())
    wake_if_cancelled(on);
  return answer;
}

// Called on the scheduler's stack: the strand has left its own. All of it is stored in the fiber
// before `enqueue`, the last access: from then on another thread may resume it.
[[noreturn]] NOPAL_SWITCHES void strand_waits(arch::context* parked, std::uintptr_t) noexcept {
  vproc::enter();
  fiber* const strand = stack::seen(stack::no_stack, static_cast<fiber*>(parked));
  worker* self = vproc::current();
  vproc::vproc* const host = self->host;
  note_wait(self);
  if (base::strands_apart) [[unlikely]]
    base::begin_enqueue();
  vproc::leave_affine_call(self);
  strand->group = self->group; // make_ready reads it, and may be called from `enqueue` on
  strand->on = self->stack;
  strand->context = context_of(strand->on);
  strand->state = vproc::take_strand_state(self);
  strand->own_control = self->own_control();
  strand->partials = std::exchange(self->partials, nullptr);
  note_scheduler_stack(host);
  if (self->give_back(strand->stack_pointer, strand->split))
    self->stack = stack::no_stack; // it is the strand's now
  else
    self = leave_with_forks(self, strand);
  // The vproc gets a stack beyond the thieves' share: the strand may wait for another strand, which
  // could not run if this vproc had to wait for a stack.
  if (stack::may_run_out() && self->stack == stack::no_stack)
    self->stack = stack::acquire();
  if (strand->stack_in_use)
    strand->plain = strand->left == nullptr && strand->partials == nullptr &&
                    !strand->own_control && !strand->state.exceptions.alive() &&
                    !stack::is_viewed(strand->on);
  else
    stack::retire(strand->on, strand->stack_pointer);
  base::happens_before(strand);
  const signal answer = strand->waits != nullptr ? enqueue_findable(strand)
                                                 : strand->enqueue(strand, strand->argument);
  if (base::strands_apart) [[unlikely]]
    base::end_enqueue();
  schedule(self, answer);
}

// Called when a strand goes on: the strand that switched to it becomes visible to thieves, now that
// its stack has been left.
void settle() noexcept { vproc::current()->host->ready.settle(); }

// At each 64th turn the shared fibers come first, if there are any.
bool may_switch(const vproc::vproc* host) noexcept {
  return host->may_switch() && !(host->looks_further() && !vproc::shared_ready.empty());
}

// The short way between two plain strands of one group: they have no open forks, no exceptions
// alive, no control words of their own, no partial values and no views. The stack that is left
// counts as in use: its strand is ready.
NOPAL_SWITCHES bool switch_to_next(worker* self) noexcept {
  vproc::vproc* const host = self->host;
  vproc::group* const strands_group = self->group;
  if (self->late_split == 0 || self->exceptions->alive() || self->partials != nullptr ||
      !may_switch(host) || stack::is_viewed(self->stack) ||
      arch::control_words::now() != strands_group->control || anything_stops())
    return false;
  int* const error = host->error;
  fiber left;
  left.group = strands_group;
  left.on = self->stack;
  left.context = context_of(self->stack);
  left.split = self->late_split;
  left.state.control = strands_group->control;
  left.state.error = *error;
  left.stack_in_use = true;
  left.plain = true;
  // `left` is complete before the queue has it; a thief finds it only after `settle`.
  fiber* const next = host->ready.leave_for_next(&left, [strands_group](const fiber* candidate) {
    return candidate->plain && candidate->group == strands_group;
  });
  if (next == nullptr)
    return false;
  // The group is the same and a plain strand computes as its group does, so three fields suffice.
  self->stack = next->on;
  self->late_split = next->split;
  *error = next->state.error;
  arch::nopal_arch_switch(&left, next);
  settle();
  return true;
}

NOPAL_SWITCHES void wait_ready(bool turn_ended) noexcept {
  fiber waiting;
  waiting.enqueue = [](fiber* strand, void*) { return signal::preempt(strand); };
  waiting.stack_in_use = true;
  waiting.turn_ended = turn_ended;
  arch::nopal_arch_park(&waiting, strand_waits);
  settle();
}

} // namespace

NOPAL_SWITCHES void park(signal (*enqueue)(fiber*, void*), void* argument) noexcept {
  fiber waiting;
  waiting.enqueue = enqueue;
  waiting.argument = argument;
  if (!vproc::is_worker(vproc::current()))
    return wait_as_thread(waiting);
  arch::nopal_arch_park(&waiting, strand_waits);
  settle();
}

NOPAL_SWITCHES bool park_or_stop(sync::choice& waits, signal (*enqueue)(fiber*, void*),
                                 void (*withdraw)(fiber*, void*), void* argument) noexcept {
  fiber waiting;
  waiting.enqueue = enqueue;
  waiting.argument = argument;
  waiting.waits = &waits;
  if (vproc::is_worker(vproc::current())) {
    arch::nopal_arch_park(&waiting, strand_waits);
    wait_word_of(waiting.on).end(&stack::seen(waiting));
    settle();
  } else {
    wait_as_thread(waiting);
  }
  const std::uint32_t taken = waits.taken();
  if (taken != sync::choice::cancelled && taken != sync::choice::timed_out)
    return true;
  withdraw(&stack::seen(waiting), argument);
  return false;
}

NOPAL_SWITCHES void give_way() {
  worker* const self = vproc::current();
  if (switch_to_next(self)) // not where anything is cancelled
    return;
  stop_if_told();
  if (!self->host->actions.empty() || vproc::any_ready(self->host))
    wait_ready(false);
}

NOPAL_SWITCHES void end_turn() noexcept { wait_ready(true); }

NOPAL_SWITCHES void run(worker* self, fiber* strand) noexcept {
  base::happens_after(strand);
  if (strand->begin != nullptr)
    begin(self, strand);
  const stack::stack_id own = strand->on;
  if (!stack::reuse(own, {strand, nullptr}))
    return; // the reclaimer has the strand from now on
  if (strand->left != nullptr) {
    take_over(self, strand->left);
    self = strand->left;
  } else {
    if (self->stack != stack::no_stack)
      stack::release(self->stack);
    self->stack = own;
    self->group = strand->group;
    self->adopt_at_first_fork(strand->split);
  }
  see(own, strand->context);
  vproc::put_strand_state(self, strand->state, strand->own_control);
  self->partials = std::exchange(strand->partials, nullptr);
  look_at_next_fork();
  note_strand(self, strand);
  vproc::leave();
  arch::nopal_arch_resume(strand, strand->stack_pointer);
}

} // namespace nopal::inline NOPAL_ABI::sched
