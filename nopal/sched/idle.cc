// SPDX-License-Identifier: MIT
// Falling asleep and waking others. Each step is named in sync/README.md.
#include "nopal/sched/idle.h"

#include "nopal/base/os.h"
#include "nopal/sched/arenas.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/spares.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/wake.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// Misses nothing: what this look does not see, its owner publishes, and then looks for sleepers.
// The suspended come after the slots: park.cc says why.
bool ask_and_look(worker* self) noexcept {
  for (std::uint32_t slot = 0; slot < vproc::slots_in_use(); ++slot) // S4
    if (worker* const one = vproc::worker_in(slot))
      one->deque.ask_before_sleep();
  base::heavy_barrier(); // S5
  group* const wanted = self->host->bound;
  const auto has_work = [wanted](worker* one) { return one->deque.has_work(name_of(wanted)); };
  const auto has_ready = [](const vproc::vproc* one) { return !one->ready.empty(); };
  return vproc::any_other_worker(self, has_work) || vproc::suspended.has_work(wanted) ||
         may_go_on(self) || vproc::any_other_vproc(self->host, has_ready) ||
         arena_has_work(self); // S6
}

bool counted(const worker* self) noexcept { return self->host->bound == nullptr; }

void pause_search(const worker* self) noexcept {
  if (counted(self))
    vproc::idle.searching.fetch_sub(1, base::seq_cst);
}

// The last one that stops looking hands the task on: there may be more where this came from, or of
// any other group, whose publisher relied on it. So it wakes a pool thread if one sleeps, rather
// than the thread that waits for this group: that would look for work of its group only.
//
// One whose steals are in vain looks itself before it wakes any: others would find as little.
void hand_over(worker* self, group* of) noexcept {
  if (!vproc::idle.anybody_asleep() ||
      (self->host->vain.are_many() && counted(self) && !ask_and_look(self)))
    return;
  if ((vproc::idle.wants_wake() && vproc::wake_pool_thread(self)) ||
      (of != nullptr && of->parking.wake(vproc::idle)))
    self->host->count.wakeups.add(1);
}

} // namespace

bool may_go_on(const worker* self) noexcept {
  const group* const bound = self->host->bound;
  return (bound != nullptr && !self->host->member && bound->is_finished()) ||
         vproc::any_ready(self->host) || vproc::is_to_end(self->host);
}

// A thread that waits for its group must be there when that ends.
bool must_rest(const worker* self) noexcept {
  return self->host->spare.get() && self->host->bound == nullptr && vproc::too_many_spares();
}

void begin_search(const worker* self) noexcept {
  self->host->runs.set(false);
  self->host->searches_for.set(self->host->bound);
  self->host->searches.set(true);
  if (counted(self))
    vproc::idle.searching.fetch_add(1, base::seq_cst);
}

void join_while_searching(const worker* self, group* joined) noexcept {
  pause_search(self);
  self->host->bound = joined;
  self->host->member = true;
}

void sleep(worker* self) noexcept {
  vproc::lend_stack(self);
  group* const bound = self->host->bound;
  sync::parking_place& bed = bound != nullptr ? bound->parking : self->host->parking;
  bed.announce(vproc::idle); // S1
  pause_search(self);        // S2
  base::full_fence();        // S3
  if (ask_and_look(self)) {
    bed.cancel(vproc::idle);
  } else {
    self->host->count.sleeps.add(1);
    bed.wait();
  }
  begin_search(self);
}

bool take_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack && stack::may_run_out())
    self->stack = stack::acquire_for_thief();
  return self->stack != stack::no_stack || !stack::may_run_out();
}

// It does not count meanwhile as one that looks for work.
bool wait_for_stack(worker* self) noexcept {
  if (take_stack(self))
    return true;
  self->host->searches.set(false);
  pause_search(self);
  for (unsigned tries = 1; !take_stack(self) && !may_go_on(self); ++tries)
    base::wait_briefly(tries);
  begin_search(self);
  return take_stack(self);
}

// A publisher may have relied on it, so it leaves as one that stops looking.
void rest(worker* self) noexcept {
  vproc::share_ready(self->host);
  vproc::lend_stack(self);
  self->host->searches.set(false);
  pause_search(self);
  hand_over(self, nullptr);
  vproc::rest_until_wanted(self->host);
  begin_search(self);
}

// It counts as one that searches meanwhile: publishers wake no other for what it will find. One
// such thief is enough; another one sleeps.
void rest_after_vain_steals(worker* self) noexcept {
  constexpr unsigned kSlice_us = 250;
  sync::vain_steals& vain = self->host->vain;
  unsigned left_us = vproc::steals_forced() || vproc::virtual_workers() != 0
                         ? 0
                         : vain.begin_search(base::cycles());
  while (left_us != 0 && !may_go_on(self) && !must_rest(self)) {
    const unsigned slice_us = std::min(left_us, kSlice_us);
    base::sleep_us(slice_us);
    left_us -= slice_us;
  }
  if (vain.are_many() && counted(self) && !must_rest(self) &&
      vproc::idle.searching.load(base::relaxed) > 1)
    sleep(self);
  vain.begin_look(base::cycles());
}

void end_search(worker* self, const next_step& found) noexcept {
  self->host->runs.set(true);
  self->host->searches.set(false);
  pause_search(self);
  sync::vain_steals& vain = self->host->vain;
  const auto* const theft = std::get_if<stolen>(&found);
  vain.end_look(base::cycles(), theft != nullptr);
  if (theft != nullptr)
    hand_over(self, theft->group);
  else if (const auto* const after = std::get_if<joined>(&found))
    hand_over(self, after->group);
  else if (fiber* const* const strand = std::get_if<fiber*>(&found))
    hand_over(self, (*strand)->group);
  vain.begin_run(base::cycles());
}

} // namespace nopal::inline NOPAL_ABI::sched
