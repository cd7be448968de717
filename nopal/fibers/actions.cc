// SPDX-License-Identifier: MIT
// How actions of the user are asked and started, and how a scheduler's instances come and go.
#include "nopal/fibers/actions.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/fibers/fibers.h"
#include "nopal/fibers/places.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/schedule.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/settings.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::fibers {
namespace {

void prepare(user_action* one) noexcept {
  NOPAL_ASSERT(!one->starting && !one->pushed,
               "a scheduler action was to be started while it ran a fiber, or was to be started "
               "already; each vproc needs an action of its own");
  one->starting = true;
}

void check_asked(const user_action* one) noexcept {
  NOPAL_ASSERT(
      one->host != nullptr && one->host->asked == one,
      "a scheduler action was to run a fiber or to yield while nobody asked it; a decision is "
      "made in `receive`, and returned");
}

} // namespace

// The program's code runs here: it may throw, and it may have returned from a signal's fiber
// without handing that on.
signal user_action::ask_guarded(vproc::action* asked, signal told) noexcept {
  auto* const self = static_cast<user_action*>(asked);
  self->starting = false;
  try {
    return self->answers(self, told);
  } catch (...) {
    base::die("a scheduler action was left by an exception; it must return a decision");
  }
}

void prepare_here(user_action* unused) noexcept {
  fiber_context* const caller = sched::current_context();
  NOPAL_ASSERT(caller != nullptr, "a scheduler action was started outside nopal::run");
  prepare(unused);
  caller->computation->begin_one();
  unused->computation = caller->computation;
  unused->start.group = caller->computation->group;
  unused->own.computation = caller->computation;
  unused->start.context = &unused->own;
}

void leave_computation(user_action* unused) noexcept { end_fiber(unused->computation); }

void prepare_again(user_action* asked) noexcept {
  check_asked(asked);
  prepare(asked);
}

void push(user_action* asked) noexcept {
  check_asked(asked);
  sched::push_action(asked->host, asked);
}

instances::instances(const calls& scheduler, unsigned most, placement where) noexcept
    : policy{take_ready}, calls_{scheduler}, most_{most}, where_{where} {}

void instances::begin(vproc::computation& one) {
  NOPAL_ASSERT(in_ == nullptr,
               "a nopal::scheduler was given to a second nopal::run while the first "
               "one has not returned; each computation needs a scheduler of its own");
  const std::uint32_t vprocs = std::max(1u, vproc::options_in_force().num_workers.value);
  const std::size_t count = std::max(1u, std::min<unsigned>(most_, vprocs));
  while (all_.size() < count)
    all_.push_back(std::make_unique<instance>(*this));
  calls_.begin(this, vprocs);
  opened_ = false;
  in_ = &one;
  one.policy = this;
}

// All instances become idle but those for which there is no vproc.
void instances::open() noexcept {
  opened_ = true;
  idle_.clear();
  for (const auto& each : all_) {
    each->start.group = in_->group;
    each->start.context = in_->waiting->context;
    if (where_ == placement::provisioned) {
      each->own.computation =
          in_->waiting->context != nullptr ? in_->waiting->context->computation : nullptr;
      each->own.pinned = provision_for(*in_);
      each->start.context = &each->own;
      if (each->own.pinned == nullptr)
        break;
    }
    idle_.add(each.get());
  }
}

// By who counts as a fiber of the computation.
void instances::start(instance* idle) noexcept {
  if (idle == nullptr)
    return;
  in_->begin_one();
  prepare(idle);
  vproc::make_ready(&idle->start);
}

// The program's code runs here, too.
void instances::put(fiber* ready, std::uint32_t number) noexcept {
  try {
    calls_.put(this, ready, number);
  } catch (...) {
    base::die("the `put` of a nopal::scheduler was left by an exception, so that a fiber is lost; "
              "it must keep each fiber that it is given");
  }
}

void instances::keep(fiber* ready, std::uint32_t number) noexcept {
  instance* woken = nullptr;
  if (concurrent()) {
    put(ready, number);
    woken = idle_.take_after_put();
  } else {
    const base::locked guard{lock_};
    put(ready, number);
    woken = idle_.take();
  }
  start(woken);
}

void instances::take_ready(vproc::policy* policy, fiber* ready, std::uint32_t number) noexcept {
  auto* const self = static_cast<instances*>(policy);
  computation* const in = self->in_;
  if (!self->opened_)
    self->open();
  const fiber_context* const caller = sched::context_at(arch::stack_pointer());
  const bool counts = caller != nullptr && caller->computation == in;
  if (!counts)
    in->begin_one();
  self->keep(ready, number);
  if (!counts)
    end_fiber(in);
}

// What the instance runs next; null: none.
fiber* instances::next_for(instance* asking) {
  const std::uint32_t number = asking->host->number;
  if (!concurrent()) {
    const base::locked guard{lock_};
    fiber* const next = calls_.take(this, number);
    if (next == nullptr)
      idle_.add(asking);
    return next;
  }
  fiber* next = calls_.take(this, number);
  if (next == nullptr && asking->may_steal)
    next = calls_.steal(this, number);
  return next;
}

// A concurrent one's.
void instances::become_idle(instance* one) noexcept {
  idle_.add(one);
  if (calls_.any(this))
    start(idle_.take());
}

// A fiber that gave way also lets those run that the scheduler outside has to run, and so does an
// instance before it steals. A fiber that came here by a join is another scheduler's.
signal instances::instance::answer(vproc::action* asked, signal told) {
  auto* const self = static_cast<instance*>(asked);
  instances& all = self->all;
  vproc::computation* const in = all.in_;
  const auto yield = [self] {
    prepare(self);
    return signal::preempt(&self->start);
  };
  if (told.what == signal::kind::preempt) {
    const fiber_context* const with = told.strand->context;
    const bool own = with != nullptr && with->computation == in && with->pinned == nullptr;
    if (own)
      all.keep(told.strand, self->host->number);
    else
      vproc::make_ready(told.strand);
    return yield();
  }
  const bool may_steal = self->may_steal;
  fiber* const next = all.next_for(self);
  if (next != nullptr) {
    self->may_steal = false;
    push(self);
    return signal::enter(next);
  }
  if (all.concurrent()) {
    self->may_steal = !may_steal;
    if (self->may_steal)
      return yield();
    all.become_idle(self);
  }
  end_fiber(in);
  return signal::stop();
}

} // namespace nopal::inline NOPAL_ABI::fibers
