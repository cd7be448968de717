// SPDX-License-Identifier: MIT
//
// Falling asleep and waking others. Each step is named in vproc/README.md.
#include "nopal/sched/idle.h"

#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/sched/park.h"
#include "nopal/sched/spares.h"
#include "nopal/sched/table.h"

namespace nopal::inline NOPAL_ABI::sched {

namespace {

vproc::idle_count idle;

// Where the thread of this vproc sleeps.
vproc::parking_place& bed_of(const worker* self) noexcept {
  group* const bound = self->host->bound;
  return bound != nullptr ? bound->parking : self->host->parking;
}

bool has_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack && stack::may_run_out())
    self->stack = stack::acquire_for_thief();
  return self->stack != stack::no_stack || !stack::may_run_out();
}

// Where others may want it, nobody sleeps on an empty one.
void lend_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack || !stack::idle_ones_are_pooled())
    return;
  stack::release(self->stack);
  self->stack = stack::no_stack;
}

void ask_everybody() noexcept {
  for (std::uint32_t slot = 0; slot < slots_in_use(); ++slot)
    if (worker* const one = worker_in(slot))
      one->deque.ask_before_sleep();
}

// Begins anywhere: or a worker that always has something would keep this look from the others. The
// suspended come last: park.cc says why.
bool anything_left(worker* self) noexcept {
  group* const wanted = self->host->bound;
  const std::uint32_t count = slots_in_use();
  const std::uint32_t first = count == 0 ? 0 : self->host->random.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    worker* const one = worker_in((first + i) % count);
    if (one != self && one != nullptr && one->deque.has_work(wanted))
      return true;
  }
  return suspended.has_work(wanted) || may_go_on(self);
}

// Begins at `first`, or behind it: any number.
bool wake_pool_thread(std::uint32_t first) noexcept {
  const std::uint32_t count = pool_size();
  for (std::uint32_t i = 0; i < count; ++i)
    if (pool_vproc((first + i) % count)->parking.wake(idle))
      return true;
  return false;
}

bool wake_any_pool_thread(worker* self) noexcept {
  const std::uint32_t count = pool_size();
  return count != 0 && wake_pool_thread(self->host->random.below(count));
}

} // namespace

bool may_go_on(const worker* self) noexcept {
  const group* const bound = self->host->bound;
  return (bound != nullptr && bound->is_finished()) || any_ready(bound);
}

bool must_rest(const worker* self) noexcept { return self->host->spare && too_many_spares(); }

// A thread that waits for its group is served by nobody else who searches: those may find work of
// another group.
void announce_work(worker* self, group* of) noexcept {
  if (idle.anybody_asleep() &&
      (of->parking.wake(idle) || (idle.wants_wake() && wake_any_pool_thread(self))))
    self->host->count.wakeups.add(1);
}

void announce_ready(group* of) noexcept {
  if (idle.anybody_asleep() && !of->parking.wake(idle) && idle.wants_wake())
    wake_pool_thread(0);
}

void wake(worker* self, vproc::parking_place& sleeper) noexcept {
  base::full_fence();
  if (sleeper.wake(idle))
    self->host->count.wakeups.add(1);
}

void searcher::begin() noexcept {
  if (counted())
    idle.searching.fetch_add(1, base::seq_cst);
}
void searcher::pause() noexcept {
  if (counted())
    idle.searching.fetch_sub(1, base::seq_cst);
}

void searcher::sleep() noexcept {
  lend_stack(self_);
  vproc::parking_place& here = bed_of(self_);
  here.announce(idle);        // S1
  pause();                    // S2
  base::full_fence();         // S3
  ask_everybody();            // S4
  base::heavy_barrier();      // S5
  if (anything_left(self_)) { // S6
    here.cancel(idle);
  } else {
    self_->host->count.sleeps.add(1);
    here.wait();
  }
  begin();
}

// It does not count meanwhile as one that looks for work.
void searcher::wait_for_stack() noexcept {
  if (has_stack(self_) || may_go_on(self_))
    return;
  pause();
  for (unsigned tries = 1; !has_stack(self_) && !may_go_on(self_); ++tries)
    base::wait_briefly(tries);
  begin();
}

// A publisher may have relied on it, so it leaves as one that stops looking.
void searcher::rest() noexcept {
  lend_stack(self_);
  pause();
  hand_over(nullptr);
  rest_until_wanted();
  begin();
}

// The last one that stops looking hands the task on: there may be more where this came from, or of
// any other group, whose publisher relied on it. So it wakes a pool thread if one sleeps, rather
// than the thread that waits for this group: that would look for work of its group only.
void searcher::hand_over(group* of) noexcept {
  if (idle.anybody_asleep() && ((idle.wants_wake() && wake_any_pool_thread(self_)) ||
                                (of != nullptr && of->parking.wake(idle))))
    self_->host->count.wakeups.add(1);
}

void searcher::end(const next_step& found) noexcept {
  pause();
  if (const auto* const theft = std::get_if<stolen>(&found))
    hand_over(theft->of);
  else if (const auto* const after = std::get_if<joined>(&found))
    hand_over(after->of);
  else if (fiber* const* const strand = std::get_if<fiber*>(&found))
    hand_over((*strand)->of);
}

} // namespace nopal::inline NOPAL_ABI::sched
