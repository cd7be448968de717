// SPDX-License-Identifier: MIT
//
// Looking for work: random victims, requests, the starvation fallback, sleep. No stack is switched
// here.
//
// One round: kTries random victims, each asked if it has nothing public; then, starved, one pass
// over all workers publishing in their names (deque/README.md); then, if many dead pages are
// charged (stack/retirement.h), a pool worker gives some back. After kRounds without success, and
// if that is done, the worker sleeps (vproc/README.md). So an awake thief takes the oldest
// continuation of a worker that never forks again after at most kTries attempts and one pass over
// the workers, unless the pass came too soon after the fork.
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/sched/pool.h"
#include "nopal/sched/sched.h"
#include "nopal/sched/spares.h"
#include "nopal/sched/waiting.h"

#include <chrono>

namespace nopal::inline NOPAL_ABI::sched {

namespace {

// The computation of which this worker may run strands; null: of any. A guest waits for its own
// computation, and anything else might keep it arbitrarily long.
seat* restricted_to(const worker* self) noexcept { return self->at->pool ? nullptr : self->home; }

constexpr unsigned kTries = 128;
constexpr unsigned kRounds = 6;

using deque::outcome;
using item = deque::entry<offer>;

// Whether this worker has something to go on with, and need not steal.
bool may_go_on(const worker* self) noexcept {
  return self->at->finished.load(base::relaxed) != nullptr || any_ready(restricted_to(self));
}

// The continuation's errno is what it was at its fork, or whatever its child has set since, as
// after any call. (A victim that was done with the child at once may have another strand's.)
outcome steal_from(worker* victim, worker* self, item& taken) noexcept {
  const outcome result = victim->deque.steal(restricted_to(self), taken);
  if (result == outcome::got)
    self->stolen_error = base::read_error(victim->error_at());
  return result;
}

// Where stacks may run out, a thief takes nothing before it has one to run it on.
bool has_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack && stack::may_run_out())
    self->stack = stack::acquire_for_thief();
  return self->stack != stack::no_stack || !stack::may_run_out();
}

// Looks for work of any kind, so that a publisher may rely on it. Guests do not.
bool takes_anything(const worker* self) noexcept { return restricted_to(self) == nullptr; }

bool steal_from_anybody(worker* self, item& taken) noexcept {
  const std::uint32_t count = worker_count();
  for (unsigned tries = 1; tries <= kTries; ++tries) {
    worker* victim = worker_at(self->at->random.below(count));
    if (victim != self) {
      const outcome result = steal_from(victim, self, taken);
      if (result == outcome::got)
        return true;
      if (result == outcome::empty)
        victim->deque.ask();
    }
    if (may_go_on(self))
      return false;
    base::wait_briefly(tries);
  }
  return false;
}

bool steal_starved(worker* self, item& taken) noexcept {
  const std::uint32_t count = worker_count();
  const std::uint32_t first = self->at->random.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    worker* victim = worker_at((first + i) % count);
    if (victim != self && victim->deque.publish_for_owner(restricted_to(self)) &&
        steal_from(victim, self, taken) == outcome::got)
      return true;
  }
  return false;
}

// Begins anywhere: or a worker that always has something would keep this look from the others.
bool anything_left(worker* self) noexcept {
  const std::uint32_t count = worker_count();
  const std::uint32_t first = self->at->random.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    worker* victim = worker_at((first + i) % count);
    if (victim != self && victim->deque.has_work(restricted_to(self)))
      return true;
  }
  return may_go_on(self);
}

// Where others may want it, nobody sleeps on an empty one.
void lend_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack || !stack::idle_ones_are_pooled())
    return;
  stack::release(self->stack);
  self->stack = stack::no_stack;
}

// A thief without a stack waits for one, and is not counted as one that looks for work.
void wait_for_stack(worker* self) noexcept {
  if (has_stack(self) || may_go_on(self))
    return;
  if (takes_anything(self))
    idle.searching.fetch_sub(1, base::seq_cst);
  for (unsigned tries = 1; !has_stack(self) && !may_go_on(self); ++tries)
    base::wait_briefly(tries);
  if (takes_anything(self))
    idle.searching.fetch_add(1, base::seq_cst);
}

void sleep(worker* self) noexcept {
  const bool counted = takes_anything(self);
  lend_stack(self);
  self->at->parking.announce(idle);
  if (counted)
    idle.searching.fetch_sub(1, base::seq_cst);
  base::full_fence();
  for (std::uint32_t i = 0; i < worker_count(); ++i)
    worker_at(i)->deque.ask_before_sleep();
  base::heavy_barrier();
  if (anything_left(self)) {
    self->at->parking.cancel(idle);
  } else {
    self->count.sleeps.add(1);
    self->at->parking.wait();
  }
  if (counted)
    idle.searching.fetch_add(1, base::seq_cst);
}

// Gives stack pages back while there is nothing else to do. True: a strand was left to this worker.
bool tidied(worker* self, found& left) noexcept {
  stack::errand to_do;
  if (!self->at->pool || !stack::crowded() || !stack::tidy(to_do))
    return false;
  self->count.errands.add(1);
  left.ready = waiter_of(to_do.frame);
  if (left.ready == nullptr)
    left.joined = static_cast<scope_frame*>(to_do.frame);
  left.home = static_cast<seat*>(to_do.home);
  return true;
}

// Begins at `first`, or behind it: any number.
bool wake_pool_worker(std::uint32_t first) noexcept {
  const std::uint32_t count = pool_size();
  for (std::uint32_t i = 0; i < count; ++i)
    if (pool_seat((first + i) % count)->parking.wake(idle))
      return true;
  return false;
}

// Whoever stops looking, as the last one, hands the task on: there may be more where this came
// from, or of any other computation, whose publisher relied on us. So not to a guest if a pool
// worker sleeps: the guest would look for its own computation's work only.
void hand_over(worker* self, seat* home) noexcept {
  if (!idle.anybody_asleep())
    return;
  if ((idle.wants_wake() && wake_pool_worker(self->at->random.below(pool_size()))) ||
      (home != nullptr && home->parking.wake(idle)))
    self->count.wakeups.add(1);
}

// A spare too many rests. It may be the one on whom a publisher relied, so it leaves as one that
// stops looking.
void rest_as_spare(worker* self) noexcept {
  lend_stack(self);
  if (takes_anything(self))
    idle.searching.fetch_sub(1, base::seq_cst);
  hand_over(self, nullptr);
  rest();
  if (takes_anything(self))
    idle.searching.fetch_add(1, base::seq_cst);
}

bool must_rest(const worker* self) noexcept { return self->at->spare && too_many_spares(); }

} // namespace

void announce_work(worker* self, seat* home) noexcept {
  if (!idle.anybody_asleep())
    return;
  // A guest can be served by nobody who searches for work of any kind: it may run its own only.
  if (home->parking.wake(idle) ||
      (idle.wants_wake() && wake_pool_worker(self->at->random.below(pool_size()))))
    self->count.wakeups.add(1);
}

void announce_ready(seat* home) noexcept {
  if (idle.anybody_asleep() && !home->parking.wake(idle) && idle.wants_wake())
    wake_pool_worker(0);
}

void wait_for_thief(worker* self) noexcept {
  using clock = std::chrono::steady_clock;
  constexpr unsigned kPatience = 20000;
  constexpr std::chrono::milliseconds kTime{5}; // where other programs want the processors too
  if (!steals_forced() || self->at->random.below(4) == 0)
    return;
  const auto end = clock::now() + kTime;
  for (unsigned tries = 1; tries < kPatience && self->deque.anything_public(); ++tries) {
    if (tries % 64 == 0 && clock::now() > end)
      return;
    base::wait_briefly(tries);
  }
}

void wake(worker* self, seat* sleeper) noexcept {
  base::full_fence();
  if (sleeper->parking.wake(idle))
    self->count.wakeups.add(1);
}

found search(worker* self) noexcept {
  const bool counted = takes_anything(self);
  if (counted)
    idle.searching.fetch_add(1, base::seq_cst);
  item taken{};
  found next{nullptr, nullptr, nullptr, nullptr, self->home};
  for (unsigned round = 1;; ++round) {
    if (must_rest(self) && !may_go_on(self))
      rest_as_spare(self);
    wait_for_stack(self);
    next.finished = self->at->finished.load(base::acquire);
    if (next.finished != nullptr)
      break;
    next.ready = take_ready(restricted_to(self));
    if (next.ready != nullptr) {
      next.home = next.ready->left->home;
      break;
    }
    if (must_rest(self))
      continue;
    if (steal_from_anybody(self, taken))
      break;
    if (!may_go_on(self) && steal_starved(self, taken))
      break;
    if (tidied(self, next))
      break;
    if (round % kRounds == 0 && !(self->at->pool && stack::crowded()))
      sleep(self);
  }
  if (counted)
    idle.searching.fetch_sub(1, base::seq_cst);
  if (next.finished != nullptr) {
    self->at->finished.store(nullptr, base::relaxed);
    return next;
  }
  if (next.joined == nullptr && next.ready == nullptr) {
    next.stolen = taken.frame;
    next.home = static_cast<seat*>(taken.home);
    self->count.steals.add(1);
  }
  hand_over(self, next.home);
  return next;
}

} // namespace nopal::inline NOPAL_ABI::sched
