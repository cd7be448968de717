// SPDX-License-Identifier: MIT
// How actions of the user are asked and started, and when a scheduler's instances are active.
#include "nopal/fibers/actions.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/base/per_process.h"
#include "nopal/fibers/fibers.h"
#include "nopal/fibers/places.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/schedule.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/settings.h"

#include <algorithm>
#include <utility>

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

void prepare(user_action* unused, bool again) noexcept {
  NOPAL_ASSERT(!unused->starting && !unused->pushed,
               "a scheduler action was to be started while it ran a fiber, or was to be started "
               "already; each vproc needs an action of its own");
  unused->starting = true; // until the action is asked next (ask_guarded)
  unused->start.again = again;
}

// Stands for the computation outside of one that a strand of none has begun.
vproc::computation* no_computation() {
  static constinit base::per_process<vproc::computation> none;
  return &none.get();
}

void check_asked(const user_action* asked) noexcept {
  NOPAL_ASSERT(
      asked->host != nullptr && asked->host->asked == asked,
      "a scheduler action was to run a fiber or to yield while nobody asked it; a decision is "
      "made in `receive`, and returned");
}

} // namespace

// Calls the program's code, which may throw. `start` has been entered, or the action has been
// popped, so it may be started again from now on.
signal user_action::ask_guarded(vproc::action* asked, signal given) noexcept {
  auto* const self = static_cast<user_action*>(asked);
  self->starting = false;
  self->start.anywhere = false;
  try {
    return self->answers(self, given); // may destroy the action
  } catch (...) {
    base::die("a scheduler action was left by an exception; it must return a decision");
  }
}

void prepare_here(user_action* unused) noexcept {
  fiber_context* const caller = sched::current_context();
  NOPAL_ASSERT(caller != nullptr, "a scheduler action was started outside nopal::run");
  prepare(unused, false);
  caller->computation->begin_one(); // the caller is a fiber of it, so it has not ended
  unused->computation = caller->computation;
  unused->start.group = caller->computation->group;
  unused->own.computation = caller->computation;
  unused->start.context = &unused->own; // lives as long as the action
}

void leave_computation(user_action* left) noexcept { end_fiber(left->computation); }

void prepare_again(user_action* asked) noexcept {
  check_asked(asked);
  prepare(asked, true);
}

void push(user_action* asked) noexcept {
  check_asked(asked);
  sched::push_action(asked->host, asked);
}

namespace {

// Keeps fibers in the order in which they became ready.
class in_order : public instances {
public:
  in_order() noexcept : instances{functions, ~0u, placement::anywhere} {}

private:
  static in_order& order(instances* self) noexcept { return *static_cast<in_order*>(self); }
  static void begin_none(instances*, std::uint32_t) {}
  static void append(instances* self, fiber* ready, std::uint32_t) {
    order(self).kept_.append(ready);
  }
  static fiber* first(instances* self, std::uint32_t) { return order(self).kept_.take(); }
  static constexpr calls functions{begin_none, append, first, nullptr, nullptr};

  sync::linked_queue<fiber> kept_;
};

// Whether the calling strand is under a scheduler: it is in no region of its fiber.
bool under_scheduler() noexcept {
  const fiber_context* const caller = sched::current_context();
  return caller != nullptr && caller->computation->policy != nullptr &&
         caller->computation->group == vproc::current()->group;
}

} // namespace

void run(spawned* body, computation* begun) {
  if (begun->policy != nullptr || !under_scheduler())
    return run_body(body, begun);
  in_order order;
  const chosen_by chosen{order, *begun};
  run_body(body, begun);
}

instances::instances(const calls& scheduler, unsigned most, placement where) noexcept
    : policy{take_ready}, calls_{scheduler}, most_{most}, where_{where} {}

void instances::begin(vproc::computation& begun) {
  NOPAL_ASSERT(computation_ == nullptr,
               "a nopal::scheduler was given to a second nopal::run while the first "
               "one has not returned; each computation needs a scheduler of its own");
  const std::uint32_t vprocs = std::max(1u, vproc::options_in_force().num_workers.value);
  const std::size_t count = std::max(1u, std::min<unsigned>(most_, vprocs));
  while (all_.size() < count) // instances stay for later computations
    all_.push_back(std::make_unique<instance>(*this));
  calls_.begin(this, vprocs);
  opened_ = false; // the group and the caller are known only when the first fiber is ready
  computation_ = &begun;
  begun.policy = this; // last: make_ready gives fibers to the policy from now on
}

// Makes all instances idle but those for which there is no vproc. Called once for a computation, by
// the caller of `run`, whose function is the first fiber: no other thread knows the computation
// yet.
void instances::open() noexcept {
  opened_ = true;
  idle_.clear(); // of the computation before, whose instances all ended idle
  for (const auto& each : all_) {
    each->start.group = computation_->group;
    each->start.context = computation_->waiting->context;
    if (where_ == placement::provisioned) {
      each->own.computation = computation_->waiting->context != nullptr
                                  ? computation_->waiting->context->computation
                                  : no_computation();
      each->own.pinned = provision_for(*computation_); // so that it always starts there
      each->start.context = &each->own;
      if (each->own.pinned == nullptr)
        break;
    }
    idle_.add(each.get());
  }
}

// Starts an instance, if there is one. The caller counts as a fiber of the computation.
void instances::start(instance* idle) noexcept {
  if (idle == nullptr)
    return;
  computation_->begin_one(); // before the instance is ready: it may end at once
  prepare(idle, false);
  vproc::make_ready(&idle->start);
}

// Calls the program's code, which may throw.
void instances::put(fiber* ready, std::uint32_t number) noexcept {
  try {
    calls_.put(this, ready, number);
  } catch (...) {
    base::die("the `put` of a nopal::scheduler was left by an exception, so that a fiber is lost; "
              "it must keep each fiber that it is given");
  }
}

// The fiber is put first, then an idle instance is taken: the instance finds it, or another one
// does.
void instances::keep(fiber* ready, std::uint32_t number) noexcept {
  instance* woken = nullptr;
  if (concurrent()) {
    put(ready, number);
    woken = idle_.take_after_put(); // with the fence of sync/idle_list.h
  } else {
    const base::locked guard{lock_};
    put(ready, number);
    woken = idle_.take();
  }
  start(woken); // without the lock: make_ready may wake a thread
}

void instances::take_ready(vproc::policy* scheduler, fiber* ready, std::uint32_t number) noexcept {
  auto* const self = static_cast<instances*>(scheduler);
  computation* const computation = self->computation_;
  if (!self->opened_)
    self->open();
  const fiber_context* const caller = sched::context_at(arch::stack_pointer());
  // Another thread, or a strand outside the computation, counts for the time of this call.
  const bool counts = caller != nullptr && caller->computation == computation;
  if (!counts)
    computation->begin_one(); // the kept fiber has not ended, so the computation has not
  self->keep(ready, number);
  if (!counts)
    end_fiber(computation);
}

// Returns the fiber that the instance runs next; null: none.
fiber* instances::next_for(instance* asking) {
  const std::uint32_t number = asking->host->number;
  if (!concurrent()) {
    const base::locked guard{lock_};
    fiber* const next = calls_.take(this, number);
    if (next == nullptr)
      idle_.add(asking); // under the lock: the next `put` finds it
    return next;
  }
  fiber* next = calls_.take(this, number);
  if (next == nullptr && asking->may_steal)
    next = calls_.steal(this, number);
  return next;
}

// Of a concurrent scheduler: looks again after the instance is idle, since a `put` in between found
// no idle instance.
void instances::become_idle(instance* asked) noexcept {
  idle_.add(asked);
  if (calls_.any(this))
    start(idle_.take());
}

// An instance yields after its fiber gave way, and before it steals, so that the scheduler outside
// may run other fibers. A fiber of another computation may be told here after a join: it is made
// ready.
signal instances::instance::answer(vproc::action* asked, signal given) {
  auto* const self = static_cast<instance*>(asked);
  instances& all = self->all;
  vproc::computation* const computation = all.computation_;
  vproc::vproc* const host = self->host; // an idle instance may be started elsewhere at once
  const auto yield = [self, host] {
    vproc::give_back_units(host);
    prepare(self, true);
    return signal::preempt(&self->start);
  };
  if (given.tag == signal::kind::preempt) {
    const fiber_context* const context = given.strand->context;
    const bool own =
        context != nullptr && context->computation == computation && context->pinned == nullptr;
    if (own)
      all.keep(given.strand, host->number);
    else
      vproc::make_ready(given.strand);
    return yield();
  }
  if (std::exchange(host->turn_over, false)) // others outside wait longer than a tick
    return yield();
  const bool may_steal = self->may_steal; // it has yielded, and may steal this time
  fiber* const next = all.next_for(self);
  if (next != nullptr) {
    self->may_steal = false; // it yields again before its next steal
    host->units.hold(computation, self);
    push(self); // before the fiber is entered, whose signal it gets
    return signal::enter(next);
  }
  if (all.concurrent()) {
    self->may_steal = !may_steal;
    if (self->may_steal)
      return yield();
    all.become_idle(self);
  }
  vproc::give_back_units(host);
  end_fiber(computation); // last: the computation, and this instance, may end
  return signal::stop();
}

} // namespace nopal::inline NOPAL_ABI::fibers
