// SPDX-License-Identifier: MIT
// How a thread begins a group, waits for it, and resumes when it ends (vproc/group.h). A thread
// that Nopal did not start begins one at a fork on its own stack, a strand when it enters an affine
// region (affine.h). The group ends when that fork's scope is resumed, always on the same thread.
//
//   forks       The child runs on a stack of ours, so that everything below it is ordinary; the
//               continuation, whose frame stays where it is, is public at once.
//   not stolen  The child returns to the stack of the frame; the thread is what it was before.
//   stolen      The thread looks for work of its group, below the frame on the frame's stack. The
//               vproc that completes the scope's join hands the scope back (group::finish).
//   again       A scope that forks again before it joins would begin a group for each fork. So the
//               thread that finishes its second child goes on with the continuation as a thief
//               would: what it forks from now on are forks of a strand. Its join ends the group.
//
// The parent of an affine region is not offered, nor is a frame too large for a thief's stack. A
// child that finishes elsewhere, while no thief has the main path, resumes it as if that had been
// stolen and waited at its join.
//
// A thread may wait for several groups at a time, each within the one before, since that is all it
// runs meanwhile. So they end in the reverse order, and what the thread itself holds (locks, an
// interpreter's state) is entered and left like nested blocks.
#include "nopal/sched/groups.h"
#include "nopal/arch/gdb.h"
#include "nopal/base/check.h"
#include "nopal/base/child.h"
#include "nopal/base/faults.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/base/shared.h"
#include "nopal/config.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/copies.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/steal.h"
#include "nopal/sched/stop.h"
#include "nopal/sched/views.h"
#include "nopal/vproc/arenas.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/overflow.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/strand.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/thread_bound.h"
#include "nopal/vproc/wake.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// On a view: what the frames of a group's beginning take at most, below that of begin_group. Check
// builds look.
constexpr std::uintptr_t kRoomOfGroup = 4096;

// Set when this thread's membership was destroyed. Destructors of other thread-local objects, and
// of static ones on the main thread, may fork after that. Such a late fork has a vproc to itself
// while it lasts.
thread_local bool membership_ended = false;

// The vproc and signal stack that this thread keeps from its first fork to its end.
struct membership {
  membership() noexcept {
    vproc::report_overflow_of_own_stack();
    vproc::watch_this_threads_end();
    base::set_error(error_before);
  }
  ~membership() {
    membership_ended = true;
    if (host != nullptr && taken_in == base::this_process)
      vproc::return_vproc(host);
  }
  // In the child of fork() the thread takes another vproc. (The one that it had is lost.)
  vproc::vproc* host_here() noexcept {
    if (taken_in != base::this_process) {
      host = vproc::take_vproc();
      taken_in = base::this_process;
    }
    return host;
  }

  const int error_before = *base::this_threads_error(); // a fork does not change errno
  const base::signal_stack for_overflows;
  vproc::vproc* host = nullptr;
  std::uint32_t taken_in = 0; // the process in which `host` was taken
};

vproc::vproc* vproc_of_this_thread() noexcept {
  if (membership_ended)
    return vproc::take_vproc();
  static thread_local membership kept;
  return kept.host_here();
}

// The child of a group's outermost fork.
struct first_child {
  fork_record* fork;
  const body_calls& calls;
  void* closure;
  const group* begun;
  bool offered; // the continuation, to thieves
  bool again;   // the scope has forked before
  // Set if exceptions are alive and the continuation is offered; else the child finds them itself.
  std::exception_ptr handled{};
  unsigned uncaught = 0;
};

// The child is finished on a thread that does not wait for the group, and no thief has the main
// path. So the main path is made to look stolen, and waiting at its join.
void leave_main_path(const worker* self, scope_frame* scope) noexcept {
  scope->state().join.count_steal();
  scope->state().join.arrive(); // the child is not counted down yet, so this is not the last
  scope->state().strand.error = *self->host->error;
  if (scope->exceptions_aside())
    scope->forget_exceptions_aside(); // the waiting thread brings them back
  else
    scope->state().strand.exceptions = join::take_exception_state();
}

// Called on the child's stack.
NOPAL_SWITCHES void run_first_child(void* argument) noexcept {
  auto* const child = static_cast<first_child*>(argument);
  fork_record* const fork = child->fork;
  vproc::leave(); // run_group has entered
  const bool failed = join::run_catching_amid(std::move(child->handled), child->uncaught, fork,
                                              child->calls.run, child->closure);
  worker* const self = vproc::strands_own(); // perhaps not the one that began the child
  vproc::enter();
  const bool ours = !child->offered || self->deque.take_back_root(fork);
  if (failed && join::attach_failure(fork, !ours))
    announce_stop(fork->scope()->below());
  const bool waits = self->host->bound.get() == child->begun && !self->host->member.get();
  const bool goes_on = ours && waits && child->again;
  // The thread that waits returns to the frame of run_on_new_stack; any other one must not.
  if (ours && waits && !goes_on)
    return;
  fork->scope()->partial().add(self->partials, fork->steals_before);
  if (ours && !goes_on)
    leave_main_path(self, fork->scope());
  base::forget_frames(arch::stack_pointer(), stack::top(self->stack));
  arch::nopal_arch_leave(goes_on ? go_on_as_thief : child_ended, fork->scope(),
                         self->scheduler_stack);
}

// The calling thread begins a group, and waits for it from now on.
worker* begin_group(scope_frame* scope, unsigned vprocs) noexcept {
  worker* before = vproc::current();
  worker* const aside = take_aside();
  if (vproc::is_worker(before))
    vproc::check_depth(reinterpret_cast<const void*>(arch::stack_pointer()), before->stack);
  else if (aside != nullptr)
    before = aside;
  const bool nested = vproc::is_worker(before);
  if (!nested && base::shared != nullptr)
    base::shared->become_process(); // a process has one view
  vproc::vproc* const host = nested ? before->host : vproc_of_this_thread();
  group* const begun = vproc::take_group();
  start_pool(); // again: the pool may have ended before this group counted
  // All fields are written before the fork is published, or the child begins (vproc/group.h).
  begun->root = scope;
  begun->frame = scope->base_of_frame();
  begun->parent = before->group;
  begun->host = host;
  begun->closed = vprocs != 0 || (before->group != nullptr && before->group->closed);
  begun->outer = before;
  begun->outer_aside = aside != nullptr;
  begun->outer_copy = vproc::is_worker(vproc::current()) ? nullptr : set_other_aside();
  if (nested)
    vproc::share_ready(host); // before it is bound: its own queue then has the group's fibers only
  begun->under_actions = !host->actions.empty();
  begun->outer_role.take_up(*host);
  host->bound.set(begun);
  host->member.set(false);
  host->runs.set(true);
  begun->mutexes_held = vproc::mutexes_held(); // these stay locked while the thread waits
  begun->control = arch::control_words::now();
  join::partials*& outer = nested ? before->partials : vproc::partials_of_thread();
  place_scheduler(host);
  const std::uintptr_t at = arch::stack_pointer();
  if (stack::view::holds(at)) {
    begun->scheduler_stack = stack::acquire();
    stack::view::begin_plain(begun->scheduler_stack);
    host->scheduler.stack_pointer = stack::frames_top(begun->scheduler_stack);
  }
  worker* const self = vproc::take_worker(host);
  self->run_on(host);
  self->partials = std::exchange(outer, nullptr); // the child comes serially behind
  self->group = begun; // before the deque adopts the stack in the group's name
  if (self->stack == stack::no_stack)
    self->stack = stack::acquire();
  // Below the frames that the thread comes back to.
  see_below({nested ? before->stack : stack::no_stack, at - kRoomOfGroup}, self->stack);
  self->adopt(self->stack, stack::top(self->stack), begun);
  if (begun->closed)
    vproc::open_arena(begun, vprocs == 0 ? 0 : static_cast<int>(vprocs) - 1);
  look_at_next_fork(); // the vproc may be new: what was announced before has not told it
  return self;
}

NOPAL_SWITCHES void end_group(worker* self, const scope_frame* scope) noexcept {
  vproc::vproc* const host = self->host;
  group* const ended = host->bound.get();
  if (!stack::is_ours(scope->stack_pointer)) // as in run_on_new_stack, which added them
    base::remove_roots(scope->stack_pointer, host->scheduler.bounds.high);
  note_scheduler_stack(host);
  vproc::close_arena(ended); // members are gone after that, so the group may be used again
  host->take_up(ended->outer_role);
  if (ended->under_actions && host->actions.empty()) // others have them; the strand goes back soon
    host->signals.tell(sync::preempt_requested);
  if (ended->outer_aside)
    put_aside(ended->outer);
  else
    arch::nopal_self = ended->outer;
  ended->root = nullptr; // no scope of a later group is taken for this root
  const bool nested = vproc::is_worker(ended->outer);
  (nested ? ended->outer->partials : vproc::partials_of_thread()) =
      std::exchange(self->partials, nullptr);
  host->signals.run_with(nested ? ended->outer : nullptr); // its signals lower this limit now
  const copy* const other = ended->outer_copy;
  if (ended->scheduler_stack != stack::no_stack)
    stack::release(std::exchange(ended->scheduler_stack, stack::no_stack));
  vproc::return_worker(self); // before the group: a thief finds no fork of a group that has ended
  vproc::return_group(ended);
  if (!nested && membership_ended)
    vproc::return_vproc(host);
  if (other != nullptr)
    other->go_on();
}

// Runs the child. Returns, with the worker that the vproc has then, if this thread finishes the
// child and nobody has stolen its continuation.
NOPAL_SWITCHES worker* run_on_new_stack(worker* self, first_child& child) noexcept {
  scope_frame* const scope = child.fork->scope();
  note_first_frame(self);
  if (base::strands_apart) [[unlikely]]
    stack::set_fiber(self->stack, base::this_strand());
  note_stack(self);
  // A stack of ours is among LeakSanitizer's roots already.
  if (!stack::is_ours(scope->stack_pointer))
    base::add_roots(scope->stack_pointer, self->host->scheduler.bounds.high);
  set_origin(self->stack, child.fork, self->group->outer);
  const std::uintptr_t begin = stack::frames_top(self->stack);
  arch::tell_gdb(stack::top(self->stack), begin);
  arch::nopal_arch_call_on(run_first_child, &child, begin);
  NOPAL_CHECK(!stack::view::holds(arch::stack_pointer()) ||
              arch::stack_pointer() > begin + kRoomOfGroup / 4);
  worker* const now = vproc::current();
  displace_stack(now->stack);
  note_empty_stack(now);
  return now;
}

// The process sees again what the strand saw that began the group. Also called on that strand's
// stack, of which nothing is in use where another was shown meanwhile.
void see_outer(const group* ending) noexcept {
  if (vproc::is_worker(ending->outer))
    see(ending->outer->stack, context_of(ending->outer->stack));
}

bool fits_a_thief(const scope_frame* scope) noexcept {
  return scope->base_of_frame() - scope->stack_pointer_of_fork() < stack::size() / 4;
}

// The waiting thread goes on behind the join of the scope that began its group.
[[noreturn]] NOPAL_SWITCHES void go_on_behind(worker* self, scope_frame* scope) noexcept {
  base::forget_frames(arch::stack_pointer(), scope->stack_pointer);
  const arch::control_words group_control = self->host->bound.get()->control;
  end_group(self, scope);
  base::happens_after(&scope->state());
  if (base::strands_apart) [[unlikely]] {
    base::go_on_as(base::main_path_of(scope));
    base::end_wait();
  }
  join::put_exception_state(scope->state().strand.exceptions);
  base::set_error(scope->state().strand.error);
  // The worker that it continues with knows whether these are its own.
  (scope->take_own_control() ? scope->state().strand.control : group_control).use();
  look_at_next_fork();
  vproc::leave();
  arch::nopal_arch_resume(scope, scope->stack_pointer);
}

[[noreturn]] NOPAL_SWITCHES void run_on_outer_scheduler(void* scope) noexcept {
  go_on_behind(vproc::current(), static_cast<scope_frame*>(scope));
}

// Runs the child in a group of its own, and offers the continuation of its parent if that may be.
NOPAL_SWITCHES void run_group(fork_record* fork, const body_calls& calls, void* closure,
                              bool may_offer, unsigned vprocs) noexcept {
  vproc::enter();
  start_pool();
  scope_frame* const scope = fork->scope();
  const bool offered = may_offer && fits_a_thief(scope);
  worker* self = begin_group(scope, vprocs);
  const bool amid_exceptions = offered && self->exceptions->alive();
  first_child child{fork,        calls,   closure,
                    self->group, offered, offered && scope->active() && !amid_exceptions};
  if (amid_exceptions) {
    child.handled = std::current_exception();
    join::set_exceptions_aside(scope);
    child.uncaught = scope->state().uncaught;
  }
  if (offered) {
    self->deque.publish_root(fork, name_of(self->group)); // from now on thieves may resume it
    vproc::announce_work(self, self->group);
    wait_for_thief(self);
  } else {
    scope->activate(static_cast<unsigned>(std::uncaught_exceptions()));
    fork->complete(0);
  }
  self = run_on_new_stack(self, child);
  see_outer(self->host->bound.get());
  if (amid_exceptions)
    join::bring_exceptions_back(scope);
  base::seen_strand* const strand = base::strands_apart ? base::this_strand() : nullptr;
  end_group(self, scope);
  if (strand != nullptr) [[unlikely]]
    base::go_on_as(strand);
  look_at_next_fork();
  vproc::leave();
}

} // namespace

NOPAL_SWITCHES void fork_in_new_group(fork_record* fork, const body_calls& child,
                                      void* closure) noexcept {
  vproc::check_no_handler();
  if (fork->scope()->steals() != 0 && fork->scope()->state().made_in != base::this_process)
    base::lost_in_child(); // children of the scope run in the parent process
  run_group(fork, child, closure, true, 0);
}

std::uint32_t vproc_number_of_thread() noexcept {
  start_pool(); // first: its vprocs have the lowest numbers
  vproc::vproc* const own = vproc_of_this_thread();
  if (membership_ended)
    vproc::return_vproc(own);
  return own->number;
}

NOPAL_SWITCHES void run_affine(fork_record* fork, const body_calls& child, void* closure,
                               unsigned vprocs) noexcept {
  run_group(fork, child, closure, false, vprocs);
}

NOPAL_SWITCHES void run(worker* self, finished_root finished) noexcept {
  scope_frame* const scope = finished.scope;
  if (group* const ended = self->host->bound.get(); ended->scheduler_stack != stack::no_stack) {
    // The stack that this runs on ends with the group; that of the outer scheduler is not in use.
    see_outer(ended);
    arch::nopal_arch_leave(run_on_outer_scheduler, scope, ended->outer->scheduler_stack);
  }
  go_on_behind(self, scope);
}

} // namespace nopal::inline NOPAL_ABI::sched
