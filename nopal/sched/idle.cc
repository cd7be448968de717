// SPDX-License-Identifier: MIT
// Falling asleep and waking others. Each step is named in sync/README.md.
#include "nopal/sched/idle.h"

#include "nopal/base/os.h"
#include "nopal/sched/deadlock.h"
#include "nopal/vproc/arenas.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/spares.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"
#include "nopal/vproc/timer.h"
#include "nopal/vproc/wake.h"

#include <algorithm>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

// Asks all workers to publish, and looks for work. It misses nothing: what this look does not see,
// its owner publishes, and then looks for sleepers. The suspended come after the slots: park.cc
// says why.
bool ask_and_look(worker* self) noexcept {
  for (std::uint32_t slot = 0; slot < vproc::slots_in_use(); ++slot) // S4
    if (worker* const asked = vproc::worker_in(slot))
      asked->deque.ask_before_sleep();
  base::heavy_barrier(); // S5
  group* const wanted = self->host->bound.get();
  const auto has_work = [wanted](worker* other) { return other->deque.has_work(name_of(wanted)); };
  return vproc::any_other_worker(self, has_work) || vproc::suspended.has_work(wanted) ||
         may_go_on(self) || vproc::may_steal_ready(self->host) || vproc::arena_has_work(self); // S6
}

// Options say how strands are stolen.
bool steals_as_told() noexcept { return vproc::steals_forced() || vproc::virtual_workers() != 0; }

bool counted(const worker* self) noexcept { return self->host->bound.get() == nullptr; }

void pause_search(const worker* self) noexcept {
  if (counted(self))
    vproc::idle.searching.fetch_sub(1, base::seq_cst);
}

// The last thread that stops looking wakes another one: there may be more work of this group, or of
// any other whose publisher relied on this thread. It prefers a pool thread to the thread that
// waits for this group, which would look for work of its group only.
//
// A thief whose steals are in vain looks again before it wakes any: others would find as little.
bool hand_over(worker* self, group* source) noexcept {
  if (!vproc::idle.anybody_asleep() ||
      (self->host->vain.are_many() && counted(self) && !ask_and_look(self)))
    return false;
  if (!(vproc::idle.wants_wake() && vproc::wake_pool_thread(self)) &&
      !(source != nullptr && source->parking.wake(vproc::idle)))
    return false;
  self->host->count.wakeups.add(1);
  return true;
}

// A thread stops looking: if nobody watches for events, one that sleeps is woken to do so. Where
// all run strands, the timer looks for events (vproc/timer.h).
void hand_over_watch(worker* self) noexcept {
  const sync::watch* const events = vproc::idle.events.load(base::relaxed);
  if (events == nullptr || events->taken())
    return;
  const auto wake_bound = [](const vproc::vproc* other) {
    group* const bound = other->searches_for.get();
    return bound != nullptr && bound->parking.wake(vproc::idle);
  };
  if (vproc::idle.wants_wake() &&
      (vproc::wake_pool_thread(self) || vproc::any_other_vproc(self->host, wake_bound)))
    self->host->count.wakeups.add(1);
  else
    vproc::want_ticks();
}

// Sleeps there until it is woken, or watches for events if nobody does (sync/watch.h).
void sleep_at(sync::parking_place& place, worker* self) noexcept {
  self->host->count.sleeps.add(1);
  sync::watch* const events = vproc::idle.events.load(base::acquire);
  const bool watches = events != nullptr && events->take();
  {
    const vproc::lending_asleep lent{self->host};
    deadlock_watch looks;
    const auto until = [&looks] { return looks.next(); };
    if (watches)
      place.wait_for(*events, vproc::idle, until);
    else
      place.wait(vproc::idle, until);
  }
  begin_search(self); // before others become ready: this thread runs them, or hands over
  if (!watches)
    return;
  events->call.deliver();
  events->leave();
}

} // namespace

bool group_finished(const worker* self) noexcept {
  const group* const bound = self->host->bound.get();
  return bound != nullptr && !self->host->member.get() && bound->is_finished();
}

bool may_go_on(const worker* self) noexcept {
  return group_finished(self) || vproc::any_ready(self->host) || vproc::is_to_end(self->host);
}

// A thread that waits for its group does not rest: it must be there when the group ends.
bool must_rest(const worker* self) noexcept {
  return self->host->spare.get() && self->host->bound.get() == nullptr && vproc::too_many_spares();
}

void begin_search(const worker* self) noexcept {
  self->host->runs.set(false); // the timer leaves it alone (timer.cc)
  self->host->searches_for.set(self->host->bound.get());
  self->host->searches.set(true); // a forced steal may wait for it (thief_may_come)
  if (counted(self))
    vproc::idle.searching.fetch_add(1, base::seq_cst);
}

void look_for_events() noexcept {
  if (const sync::watch* const events = vproc::idle.events.load(base::acquire))
    events->call.look();
}
bool lives_on_events(const worker* self) noexcept {
  return self->host->found_fiber && vproc::idle.events.load(base::relaxed) != nullptr;
}

void join_while_searching(const worker* self, group* joined) noexcept {
  pause_search(self); // while it is still unbound: bound vprocs are not counted
  self->host->bound.set(joined);
  self->host->member.set(true);
}

void sleep(worker* self) noexcept {
  vproc::lend_stack(self); // first: others may need the stack while it sleeps
  group* const bound = self->host->bound.get();
  sync::parking_place& place = bound != nullptr ? bound->parking : self->host->parking;
  place.announce(vproc::idle); // S1
  pause_search(self);          // S2
  base::full_fence();          // S3
  if (bound != nullptr)
    vproc::unpin_actions(self->host); // after the fence, whose partner is in enqueue_on
  if (ask_and_look(self)) {
    place.cancel(vproc::idle);
    begin_search(self);
  } else {
    sleep_at(place, self);
  }
}

bool take_stack(worker* self) noexcept {
  if (self->stack == stack::no_stack && stack::may_run_out())
    self->stack = stack::acquire_for_thief();
  return self->stack != stack::no_stack || !stack::may_run_out();
}

// The vproc does not count as searching while it waits: it could not take what is published.
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

// A publisher may have relied on this search, so it is handed over.
void rest(worker* self) noexcept {
  vproc::share_ready(self->host); // its thread does not turn to its own queue while it rests
  vproc::lend_stack(self);
  self->host->searches.set(false);
  pause_search(self);
  if (!hand_over(self, nullptr)) // sync/README.md, "The hand-over of a search"
    hand_over_watch(self);
  vproc::rest_until_wanted(self->host);
  begin_search(self);
}

unsigned note_end_of_run(const worker* self) noexcept {
  sync::vain_steals& vain = self->host->vain;
  return steals_as_told() ? 0 : vain.begin_search(vain.measures() ? base::cycles() : 0);
}

// The thief counts as searching while it rests: publishers wake no other for what it will find. One
// such thief is enough; a second one sleeps.
void rest_after_vain_steals(worker* self, unsigned rest_us) noexcept {
  constexpr unsigned kSlice_us = 250;
  const sync::vain_steals& vain = self->host->vain;
  while (rest_us != 0 && !may_go_on(self) && !must_rest(self)) {
    const unsigned slice_us = std::min(rest_us, kSlice_us);
    base::sleep_us(slice_us);
    rest_us -= slice_us;
  }
  if (vain.are_many() && counted(self) && !must_rest(self) &&
      vproc::idle.searching.load(base::relaxed) > 1)
    sleep(self);
  self->host->vain.begin_look(base::cycles());
}

bool may_steal_at_once(const worker* self) noexcept {
  return !steals_as_told() && !must_rest(self) && !vproc::is_to_end(self->host) &&
         vproc::idle.events.load(base::relaxed) == nullptr;
}

void note_steal_at_once(const worker* self) noexcept {
  self->host->found_fiber = false;
  if (self->host->vain.is_to_measure())
    self->host->vain.begin_run_at_once(base::cycles());
}

void end_search(worker* self, const next_step& found) noexcept {
  self->host->runs.set(true); // the timer may preempt what it runs next
  self->host->searches.set(false);
  pause_search(self);
  sync::vain_steals& vain = self->host->vain;
  const auto* const theft = std::get_if<stolen>(&found);
  vain.end_look(base::cycles(), theft != nullptr);
  self->host->found_fiber = std::holds_alternative<fiber*>(found);
  bool woken = false;
  if (theft != nullptr)
    woken = hand_over(self, theft->group);
  else if (const auto* const after = std::get_if<joined>(&found))
    woken = hand_over(self, after->group);
  else if (fiber* const* const strand = std::get_if<fiber*>(&found))
    woken = hand_over(self, (*strand)->group);
  if (!woken)
    hand_over_watch(self);
  vain.begin_run(base::cycles());
}

} // namespace nopal::inline NOPAL_ABI::sched
