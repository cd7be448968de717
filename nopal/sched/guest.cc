// SPDX-License-Identifier: MIT
//
// Guests: threads that Nopal did not start. Such a thread becomes a worker at a fork on its own
// stack and stops being one when that fork's scope goes on, always on the same thread (level L1).
//
//   forks       The child runs on a stack of ours, so that everything below it is ordinary; the
//               continuation, whose frame stays where it is, is public at once.
//   not stolen  The child returns to the foreign stack; the thread is a worker no more.
//   stolen      The thread looks for work of its own computation, on its own stack below the frame.
//               Whoever completes the scope's join hands the scope back (worker::finished).
//
// A frame too large for a thief's stack is not offered: its fork counts as stolen, and the main
// path as having arrived at once, so that it goes on when the child is finished.
#include "nopal/base/check.h"
#include "nopal/base/sanitizer.h"
#include "nopal/sched/sched.h"

#include <signal.h>

#include <cstdlib>

namespace nopal::sched {

namespace {

constexpr std::uintptr_t kSchedulerGap = 1024; // between the guest's frames and its scheduler's
constexpr std::size_t kSignalStackBytes = std::size_t{32} << 10;

// Set when this thread's membership has died, which thread-local objects that fork may outlive; as
// may static ones on the main thread. Such a late fork has a slot to itself while it lasts.
thread_local bool membership_ended = false;

// This thread's slot, kept from its first fork to its end; and the signal stack on which a stack
// overflow is reported, if the thread had none.
class membership {
public:
  membership() noexcept : slot_{take_guest_slot()} {
    stack_t old{};
    sigaltstack(nullptr, &old);
    if ((old.ss_flags & SS_DISABLE) == 0)
      return;
    signal_stack_ = std::malloc(kSignalStackBytes);
    if (signal_stack_ == nullptr)
      return;
    const stack_t own{signal_stack_, 0, kSignalStackBytes};
    sigaltstack(&own, nullptr);
  }
  ~membership() {
    membership_ended = true;
    return_guest_slot(slot_);
    if (signal_stack_ == nullptr)
      return;
    const stack_t none{nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
    std::free(signal_stack_);
  }
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  worker* slot() const noexcept { return slot_; }

private:
  worker* slot_;
  void* signal_stack_ = nullptr;
};

worker* slot_of_this_thread() noexcept {
  if (membership_ended)
    return take_guest_slot();
  static thread_local const membership here;
  return here.slot();
}

struct child {
  offer* of;
  void (*run)(void*);
  void* closure;
  bool offered;
};

// On the child's stack.
NOPAL_SWITCHES void run_child(void* argument) noexcept {
  const auto* task = static_cast<const child*>(argument);
  offer* of = task->of;
  bool failed = false;
  try {
    task->run(task->closure);
  } catch (...) {
    join::capture_failure(of);
    failed = true;
  }
  worker* self =
      arch::current(); // perhaps not the one that called: the child may have been stolen from
  const bool ours = task->offered && self->deque.take_back_foreign(of);
  if (failed)
    join::attach_failure(of, !ours);
  if (!ours) {
    base::forget_frames(arch::stack_pointer(), stack::top(self->stack));
    arch::nopal_arch_leave(child_done, of->scope, self->scheduler_stack);
  }
}

NOPAL_SWITCHES void leave_worker(worker* self, const scope_frame* scope) noexcept {
  base::remove_roots(scope->stack_pointer, self->thread_stack.high);
  self->deque.adopt(stack::no_stack, 0, nullptr);
  self->home = nullptr;
  arch::nopal_self = &vproc::nobody;
  note_thread_stack(self);
  if (stack::idle_ones_are_pooled() && self->stack != stack::no_stack) {
    stack::release(self->stack);
    self->stack = stack::no_stack;
  }
  if (membership_ended)
    return_guest_slot(self);
}

bool fits_a_thief(const scope_frame* scope) noexcept {
  return scope->base_of_frame() - scope->stack_pointer < stack::size() / 4;
}

} // namespace

NOPAL_SWITCHES void guest_fork(offer* of, void (*run)(void*), void* closure) noexcept {
  start();
  worker* self = slot_of_this_thread();
  scope_frame* scope = of->scope;
  child task{of, run, closure, fits_a_thief(scope)};
  self->scheduler_stack = (arch::stack_pointer() - kSchedulerGap) & ~std::uintptr_t{63};
  self->home = self;
  self->exceptions = join::this_threads_exceptions();
  self->thread_fiber = base::this_fiber();
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
#if NOPAL_TRACK_ANCESTORS
  self->innermost = scope;
#endif
  arch::nopal_self = self;
  self->deque.adopt(self->stack, stack::top(self->stack), self->home);
  const bool amid_exceptions = self->exceptions->alive();
  if (task.offered) {
    if (amid_exceptions)
      join::set_exceptions_aside(scope);
    self->deque.publish_foreign(of, self);
    announce_work(self, self);
    wait_for_thief(self);
  } else {
    of->seal(0);
    scope->exceptions = join::take_exception_state();
    scope->join.count_steal();
    scope->join.arrive();
  }
  base::begin_use(stack::bottom(self->stack), stack::top(self->stack));
  note_stack(self);
  base::add_roots(scope->stack_pointer, self->thread_stack.high);
  arch::nopal_arch_call_on(run_child, &task, stack::top(self->stack) - 64);
  self = arch::current();
  base::end_use(stack::bottom(self->stack), stack::top(self->stack));
  if (amid_exceptions)
    join::bring_exceptions_back(scope);
  leave_worker(self, scope);
}

NOPAL_SWITCHES void guest_goes_on(worker* self, scope_frame* scope) noexcept {
  base::forget_frames(arch::stack_pointer(), scope->stack_pointer);
  leave_worker(self, scope);
  base::happens_after(&scope->join);
  join::put_exception_state(scope->exceptions);
  arch::nopal_arch_resume(scope, scope->stack_pointer);
}

} // namespace nopal::sched
