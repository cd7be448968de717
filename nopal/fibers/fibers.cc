// SPDX-License-Identifier: MIT
// How a spawned fiber begins on its stack and leaves it, and how its computation's caller waits.
#include "nopal/fibers/fibers.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/os.h"
#include "nopal/base/sanitizer.h"
#include "nopal/fibers/places.h"
#include "nopal/join/cancelled.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/park.h"
#include "nopal/sched/preemption.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/stop.h"
#include "nopal/stack/small.h"
#include "nopal/vproc/entry.h"
#include "nopal/vproc/meter.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/strand.h"

#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

// Counts a fiber as ended. Returns the caller of `run` if it was the last one.
fiber* end_one(computation* ended_in) noexcept {
  base::happens_before(ended_in);
  if (!ended_in->end_one())
    return nullptr;
  base::happens_after(ended_in);
  return ended_in->waiting;
}

// Called on the scheduler's stack, when the fiber has left its own. Only then does the fiber count
// as ended: the caller of `run` may go on, and destroy the computation, at once.
[[noreturn]] NOPAL_SWITCHES void fiber_ended(void* argument) noexcept {
  auto* const joined = static_cast<computation*>(argument);
  worker* const self = vproc::current();
  if (base::strands_apart) [[unlikely]] {
    base::happens_before(joined);
    base::end_strand();
  }
  sched::note_scheduler_stack(self->host);
  self->use_no_stack(); // the fiber has no open forks: all its scopes are joined
  sched::note_empty_stack(self);
  if (stack::small::holds(self->stack)) { // a thief's frame may need a large one
    self->host->small_stacks.release(self->stack);
    self->stack = stack::no_stack;
  }
  base::happens_before(joined);
  fiber* const waiting = self->host->units.end_one(joined) ? nullptr : end_one(joined);
  if (waiting == nullptr)
    sched::schedule(self, signal::stop());
  if (self->host->actions.empty()) { // the short way: this vproc goes on with the caller
    vproc::give_back_units(self->host);
    sched::schedule(self, signal::enter(waiting));
  }
  vproc::make_ready(waiting); // no fiber of the action on top, which decides what comes next
  sched::schedule(self, signal::stop());
}

// Keeps the exception in the innermost node that keeps failures, or else in the computation.
void fail(const spawned* body, computation* joined, std::exception_ptr thrown) noexcept {
  const auto keeps = [](const vproc::cancel_node* node) { return node->keeps_failure != nullptr; };
  vproc::cancel_node* const own = body->own.cancels;
  if (vproc::cancel_node* const keeper = own != nullptr ? own->nearest(keeps) : nullptr)
    return keeper->keeps_failure(keeper, std::move(thrown));
  joined->fail(std::move(thrown));
}

NOPAL_SWITCHES void call_catching(spawned* body, computation* joined) noexcept {
  try {
    body->call(body);
  } catch (const cancelled& caught) {
    caught.note_kept(); // no handler of the program has swallowed it
    // A fiber that is cancelled ends so by design; elsewhere `cancelled` is a failure.
    if (!sched::is_cancelled(&body->own))
      fail(body, joined, join::handled_exception());
  } catch (...) {
    fail(body, joined, join::handled_exception());
  }
}

// The caller of `run` is given what the fiber has added to reducers, but for those that were made
// in the computation: one that waits for this fiber within `run` may ask for their values.
void give_partials(join::partials*& own, computation* joined, std::int64_t order) noexcept {
  if (own == nullptr) [[likely]]
    return;
  if (joined->delivers)
    return join::partials::deliver_all(own);
  join::partials::deliver(own, joined);
  joined->partial.add(own, order);
}

// Called on the fiber's stack. A fiber that is cancelled before it begins does not run its body.
[[noreturn]] NOPAL_SWITCHES void begin_fiber(void* argument) noexcept {
  spawned* const body = stack::own(static_cast<spawned*>(argument));
  computation* const joined = body->own.computation;
  vproc::cancel_node* const cancels = body->own.cancels;
  if (!sched::is_cancelled(&body->own))
    call_catching(body, joined);
  if (cancels != nullptr && cancels->cancelled()) [[unlikely]]
    cancels->tell_tokens();
  vproc::strands_own();
  {
    NOPAL_IF_SEEN(const base::unseen while_it_adds);
    give_partials(vproc::current()->partials, joined, body->on_small_stack ? 1 : 0);
  }
  body->end(body); // from now on `body`, and the context in it, may be gone
  sched::displace_stack(stack::stack_of(arch::stack_pointer())); // nobody waits there any more
  if (cancels != nullptr) {
    {
      NOPAL_IF_SEEN(const base::unseen while_it_forgets);
      sched::forget_context(stack::stack_of(arch::stack_pointer())); // walks read it (ancestry.h)
    }
    end_member(cancels); // after the last use of the body: a canceller may wait for that
  }
  vproc::enter();
  worker* const self = vproc::current(); // perhaps not the worker that it began on
  base::forget_frames(arch::stack_pointer(), stack::top(self->stack));
  arch::nopal_arch_leave(fiber_ended, joined, self->scheduler_stack);
}

void initialise(spawned* body, computation* joined) noexcept {
  body->begin = begin_fiber;
  body->group = joined->group;
  body->own.computation = joined;
  body->context = &body->own;
}

// The fiber counts already.
[[gnu::always_inline]] inline void add_fiber(spawned* new_fiber, computation* joined,
                                             vproc::cancel_node* cancels) noexcept {
  initialise(new_fiber, joined);
  // A member from now on, so that a canceller waits for it even before it is ready.
  if ((new_fiber->own.cancels = cancels) != nullptr)
    cancels->begin_member();
  new_fiber->on_small_stack = true;                     // the body of `run` begins on a large one
  new_fiber->state.control = new_fiber->group->control; // own_control is false: the group's
}

} // namespace

void join_computation(spawned* new_fiber) noexcept {
  const fiber_context* const caller = sched::current_context();
  NOPAL_ASSERT(caller != nullptr,
               "a fiber was made outside nopal::run, which waits for all fibers; call nopal::spawn "
               "in the function that nopal::run is given, or below that");
  if (!vproc::current()->host->units.begin_one(caller->computation))
    caller->computation->begin_one(); // the caller is a fiber of it, so it has not ended
  add_fiber(new_fiber, caller->computation, caller->cancels);
}

kept_open::kept_open() noexcept {
  const fiber_context* const caller = sched::current_context();
  NOPAL_ASSERT(caller != nullptr, "a nopal::spawner was made outside nopal::run, where there is no "
                                  "computation to spawn into");
  joined_ = caller->computation;
  cancels_ = caller->cancels;
  joined_->begin_one();
  if (cancels_ != nullptr)
    cancels_->begin_member();
}

kept_open::~kept_open() {
  if (cancels_ != nullptr)
    end_member(cancels_);
  end_fiber(joined_);
}

void kept_open::join(spawned* new_fiber) const noexcept {
  joined_->begin_one(); // this counts as a fiber, so the computation has not ended
  add_fiber(new_fiber, joined_, cancels_);
}

void run_body(spawned* body, computation* begun) {
  if (vproc::current()->host->signals.maybe_raised(~0u)) {
    sched::give_way_if_told(); // a loop over computations gives way at a tick, too
    sched::stop_if_told();
  }
  if (begun->meter == nullptr)
    begun->meter = sched::current_meter();
  body = stack::seen(stack::no_stack, body);
  begun = stack::seen(stack::no_stack, begun);
  body->own.computation = begun;
  if (base::strands_apart) [[unlikely]]
    base::happens_before(static_cast<fiber*>(body));
  // The caller has stopped when this is called, so its fiber holds its state.
  sched::park([body](fiber* caller) {
    computation* const joined = body->own.computation;
    joined->group = caller->group;
    joined->waiting = caller;
    initialise(body, joined);
    body->state = {{}, caller->state.error, caller->state.control};
    body->own_control = caller->own_control;
    if (joined->policy == nullptr) { // this vproc begins it at once
      vproc::give_back_units(vproc::current()->host);
      return signal::enter(body);
    }
    vproc::make_ready(body);
    return signal::stop();
  });
  base::happens_after(begun);
}

void end_fiber(computation* ended_in) noexcept {
  if (fiber* const waiting = end_one(ended_in))
    vproc::make_ready(waiting);
}

void end_member(vproc::cancel_node* node) noexcept { node->end_member(vproc::make_all_ready); }

// Not where the function was cancelled by what the whole computation lies in.
void stop_others(computation& failed, const std::exception_ptr& thrown) noexcept {
  if (failed.has_others() && !sched::stops_here() && failed.failed.mark(thrown))
    sched::announce_stop_of_fibers(failed);
}

// The exception that is thrown is not counted as suppressed; all others are.
void rethrow(std::exception_ptr& thrown_by_body, computation& ended) {
  release_all(ended);
  ended.kept.given();
  if (join::partials* const all = ended.partial.take()) [[unlikely]] {
    const base::unseen while_it_combines;
    join::partials*& own = vproc::own_partials();
    own = join::partials::combine(own, all);
  }
  if (ended.failed.marked())
    sched::stop_ended();
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

void no_current_fiber() noexcept {
  base::die("a nopal::fiber_local was asked for its value outside nopal::run, where there is no "
            "fiber; use it in the function that nopal::run is given, or below that");
}

void yield() {
  if (!vproc::is_worker(vproc::current()))
    return base::give_way();
  if (vproc::meter::any()) [[unlikely]]
    sched::spend_fuel();
  sched::give_way();
}

} // namespace nopal::inline NOPAL_ABI::fibers
