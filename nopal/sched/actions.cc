// SPDX-License-Identifier: MIT
// How actions of the user are asked and started, and how a scheduler's instances come and go.
#include "nopal/sched/actions.h"

#include "nopal/base/check.h"
#include "nopal/base/die.h"
#include "nopal/sched/fibers.h"
#include "nopal/sched/park.h"
#include "nopal/sched/pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace nopal::inline NOPAL_ABI::sched {
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
  fiber_context* const here = current_context();
  NOPAL_ASSERT(here != nullptr, "a scheduler action was started outside nopal::run");
  prepare(unused);
  here->in->begin_one();
  unused->in = here->in;
  unused->start.of = here->in->of;
  unused->own.in = here->in;
  unused->start.with = &unused->own;
}

void leave_computation(user_action* unused) noexcept { end_fiber(unused->in); }

void prepare_again(user_action* asked) noexcept {
  check_asked(asked);
  prepare(asked);
}

void push(user_action* asked) noexcept {
  check_asked(asked);
  push_action(asked->host, asked);
}

instances::instances(keeper keeps, chooser takes, unsigned most) noexcept
    : policy{take_ready}, keeps_{keeps}, takes_{takes}, most_{most} {}

void instances::begin(vproc::computation& one) {
  NOPAL_ASSERT(in_ == nullptr,
               "a nopal::scheduler was given to a second nopal::run while the first "
               "one has not returned; each computation needs a scheduler of its own");
  const std::size_t count =
      std::max(1u, std::min<unsigned>(most_, options_in_force().num_workers.value));
  while (all_.size() < count) {
    all_.push_back(std::make_unique<instance>(*this));
    all_.back()->next_idle = std::exchange(idle_, all_.back().get());
  }
  in_ = &one;
  one.chosen = this;
}

// Lock held. Null: all are active.
instances::instance* instances::wake_one() noexcept {
  instance* const woken = idle_;
  if (woken == nullptr)
    return nullptr;
  idle_ = woken->next_idle;
  in_->begin_one();
  return woken;
}

void instances::take_ready(vproc::policy* policy, fiber* ready) noexcept {
  auto* const self = static_cast<instances*>(policy);
  instance* woken = nullptr;
  {
    const deque::locked guard{self->lock_};
    self->keeps_(self, ready);
    woken = self->wake_one();
  }
  if (woken == nullptr)
    return;
  prepare(woken);
  woken->start.of = self->in_->of;
  woken->start.with = self->in_->waiting->with;
  make_ready(&woken->start);
}

// What the instance runs next; null: it is idle.
fiber* instances::next_for(instance* asking) {
  const deque::locked guard{lock_};
  fiber* const next = takes_(this);
  if (next == nullptr)
    asking->next_idle = std::exchange(idle_, asking);
  return next;
}

// A fiber that gave way also lets those run that the scheduler outside has to run. One that came
// here by a join is another scheduler's.
signal instances::instance::answer(vproc::action* asked, signal told) {
  auto* const self = static_cast<instance*>(asked);
  vproc::computation* const in = self->of.in_;
  if (told.what == signal::kind::preempt) {
    make_ready(told.strand);
    prepare(self);
    return signal::preempt(&self->start);
  }
  if (fiber* const next = self->of.next_for(self)) {
    push(self);
    return signal::enter(next);
  }
  end_fiber(in);
  return signal::stop();
}

} // namespace nopal::inline NOPAL_ABI::sched
