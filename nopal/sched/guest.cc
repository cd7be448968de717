// SPDX-License-Identifier: MIT
//
// Guests: threads that wait for a computation of their own. A thread that Nopal did not start
// becomes one at a fork on its own stack, a worker's thread when it enters an affine region
// (affine.h); and it stops being one when that fork's scope goes on, always on the same thread.
//
//   forks       The child runs on a stack of ours, so that everything below it is ordinary; the
//               continuation, whose frame stays where it is, is public at once.
//   not stolen  The child returns to the stack of the frame; the thread is what it was before.
//   stolen      The thread looks for work of its own computation, on the stack of the frame, below
//               it. Whoever completes the scope's join hands the scope back (seat::finished).
//
// The parent of an affine region is not offered, nor is a frame too large for a thief's stack: the
// fork counts as stolen, and the main path as having arrived at once, so that it goes on when the
// child is finished. If that finishes here, it just returns.
//
// A thread may be several guests at a time, each within the computation of the one before, since
// that is all that a guest runs: so they end in the reverse order, and what the thread itself holds
// (locks, an interpreter's state) is entered and left like nested blocks.
#include "nopal/arch/gdb.h"
#include "nopal/base/check.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/config.h"
#include "nopal/sched/entry.h"
#include "nopal/sched/pool.h"
#include "nopal/sched/sched.h"
#include "nopal/sched/thread_bound.h"

#include <signal.h>

#include <cstdlib>
#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {

namespace {

constexpr std::uintptr_t kSchedulerGap = 1024; // between the guest's frames and its scheduler's
constexpr std::size_t kSignalStackBytes = std::size_t{32} << 10;

// Set when this thread's membership has died, which thread-local objects that fork may outlive; as
// may static ones on the main thread. Such a late fork has a seat to itself while it lasts.
thread_local bool membership_ended = false;

// This thread's seat, kept from its first fork to its end; and the signal stack on which a stack
// overflow is reported, if the thread had none.
class membership {
public:
  membership() noexcept : seat_{take_seat()} {
    report_overflow_of_own_stack();
    watch_this_threads_end();
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
    return_seat(seat_);
    if (signal_stack_ == nullptr)
      return;
    const stack_t none{nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
    std::free(signal_stack_);
  }
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  seat* place() const noexcept { return seat_; }

private:
  seat* seat_;
  void* signal_stack_ = nullptr;
};

seat* seat_of_this_thread() noexcept {
  if (membership_ended)
    return take_seat();
  static thread_local const membership here;
  return here.place();
}

struct child {
  offer* of;
  void (*run)(void*);
  void* closure;
  const seat* guest;
  bool offered; // of
  // If the fork is amid exceptions; but a child whose parent is not offered has them itself.
  std::exception_ptr handled{};
  unsigned uncaught = 0;
};

// The child is finished on another thread than the guest's, and nobody else has the main path: as
// if that stood at its join and waited for the child.
void leave_to_guest(const worker* self, scope_frame* scope, bool offered) noexcept {
  if (offered) {
    scope->join.count_steal();
    scope->join.arrive();
  }
  arch::record_control(*scope);
  scope->error = *self->at->error;
  if (scope->exceptions_aside())
    scope->forget_exceptions_aside(); // the guest brings them back
  else
    scope->exceptions = join::take_exception_state();
}

// On the child's stack.
NOPAL_SWITCHES void run_child(void* argument) noexcept {
  auto* task = static_cast<child*>(argument);
  offer* of = task->of;
  leave();
  const bool failed =
      join::run_child_amid(std::move(task->handled), task->uncaught, of, task->run, task->closure);
  enter();
  worker* self = arch::current(); // perhaps not the one that called
  const bool ours = !task->offered || self->deque.take_back_foreign(of);
  if (failed)
    join::attach_failure(of, !ours);
  if (ours && self->at == task->guest)
    return;
  if (ours)
    leave_to_guest(self, of->scope, task->offered);
  base::forget_frames(arch::stack_pointer(), stack::top(self->stack));
  arch::nopal_arch_leave(child_done, of->scope, self->scheduler_stack);
}

// Where the frame is on a stack of ours, that is among LeakSanitizer's roots already.
void add_roots(const worker* self, const scope_frame* scope) noexcept {
  if (!stack::is_ours(scope->stack_pointer))
    base::add_roots(scope->stack_pointer, self->at->thread_stack.high);
}
void remove_roots(const worker* self, const scope_frame* scope) noexcept {
  if (!stack::is_ours(scope->stack_pointer))
    base::remove_roots(scope->stack_pointer, self->at->thread_stack.high);
}

// The calling thread is a guest from now on.
worker* enlist(scope_frame* scope) noexcept {
  worker* const before = arch::current();
  const bool nested = vproc::is_worker(before);
  if (nested)
    check_depth(reinterpret_cast<const void*>(arch::stack_pointer()), before->stack);
  seat* const place = nested ? take_seat() : seat_of_this_thread();
  occupy(place, (arch::stack_pointer() - kSchedulerGap) & ~std::uintptr_t{63});
  place->outer = before;
  place->awaited = scope;
  place->mutexes_held = mutexes_held();
  worker* const self = take_worker();
  self->sit(place);
  self->home = place;
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
  arch::nopal_self = self;
  self->deque.adopt(self->stack, stack::top(self->stack), self->home);
  return self;
}

NOPAL_SWITCHES void resign(worker* self, const scope_frame* scope) noexcept {
  seat* const place = self->at;
  worker* const outer = place->outer;
  remove_roots(self, scope);
  place->awaited = nullptr;
  const bool nested = vproc::is_worker(outer);
  arch::nopal_self = outer;
  note_thread_stack(place);
  return_worker(self);
  if (nested || membership_ended)
    return_seat(place);
}

// Runs the child; comes back, as the worker that is returned, if its continuation was not stolen,
// or not offered and no other thread finished it.
NOPAL_SWITCHES worker* run_as_guest(worker* self, child& task) noexcept {
  scope_frame* const scope = task.of->scope;
  base::begin_use(stack::bottom(self->stack), stack::top(self->stack));
  note_stack(self);
  add_roots(self, scope);
  const std::uintptr_t begin = stack::top(self->stack) - 64;
  arch::tell_gdb(stack::top(self->stack), begin);
  arch::nopal_arch_call_on(run_child, &task, begin);
  worker* const now = arch::current();
  base::end_use(stack::bottom(now->stack), stack::top(now->stack));
  return now;
}

bool fits_a_thief(const scope_frame* scope) noexcept {
  return scope->base_of_frame() - scope->stack_pointer < stack::size() / 4;
}

} // namespace

NOPAL_SWITCHES void guest_fork(offer* of, void (*run)(void*), void* closure) noexcept {
  check_no_handler();
  enter();
  start();
  scope_frame* scope = of->scope;
  if (!fits_a_thief(scope)) {
    leave();
    return run_affine(of, run, closure);
  }
  worker* self = enlist(scope);
  child task{of, run, closure, self->at, true, {}, 0};
  const bool amid_exceptions = self->exceptions->alive();
  if (amid_exceptions) {
    task.handled = std::current_exception();
    join::set_exceptions_aside(scope);
    task.uncaught = scope->exceptions.uncaught;
  }
  self->deque.publish_foreign(of, self->home);
  announce_work(self, self->home);
  wait_for_thief(self);
  self = run_as_guest(self, task);
  if (amid_exceptions)
    join::bring_exceptions_back(scope);
  resign(self, scope);
  leave();
}

NOPAL_SWITCHES void run_affine(offer* of, void (*run)(void*), void* closure) noexcept {
  enter();
  start();
  scope_frame* scope = of->scope;
  worker* self = enlist(scope);
  child task{of, run, closure, self->at, false, {}, 0};
  of->seal(0);
  scope->join.count_steal();
  scope->join.arrive();
  self = run_as_guest(self, task);
  scope->join.reset();
  resign(self, scope);
  leave();
}

NOPAL_SWITCHES void guest_goes_on(worker* self, scope_frame* scope) noexcept {
  base::forget_frames(arch::stack_pointer(), scope->stack_pointer);
  resign(self, scope);
  base::happens_after(&scope->join);
  join::put_exception_state(scope->exceptions);
  base::set_error(scope->error);
  leave();
  arch::nopal_arch_resume(scope, scope->stack_pointer);
}

} // namespace nopal::inline NOPAL_ABI::sched
