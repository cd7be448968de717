// SPDX-License-Identifier: MIT
// Random work stealing: random victims, requests, and the fallback for thieves that starve. This
// file switches no stack.
//
// Before a search: one look at up to four workers. It costs no access to what all vprocs share.
// One round: kTries random victims, each of which is asked if it has nothing public; the suspended
// workers; then, as the thief starves, one pass over all workers in whose names it publishes
// (deque/README.md); then, if many dead pages are charged, a vproc that is bound to no group gives
// some back. After kRounds without success the thread sleeps (idle.h). So a thief that is awake
// takes the oldest continuation of a worker that never forks again after at most kTries attempts
// and one pass over the workers, unless the pass came too soon after the fork.
#include "nopal/sched/steal.h"
#include "nopal/base/os.h"
#include "nopal/config.h"
#include "nopal/sched/idle.h"
#include "nopal/sched/views.h"
#include "nopal/vproc/arenas.h"
#include "nopal/vproc/ready.h"
#include "nopal/vproc/ready_queues.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/spares.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/threads.h"

#include <algorithm>
#include <chrono>

namespace nopal::inline NOPAL_ABI::sched {
namespace {

constexpr unsigned kTries = 128;
constexpr unsigned kRounds = 6;
constexpr unsigned kBriefTries = 16; // in one round, of a thread that lives on events (idle.h)
constexpr unsigned kLongestNap_us = 2000;

using deque::outcome;
using item = deque::entry<fork_record>;

next_step take(worker* self, const item& taken) noexcept {
  self->error = taken.error;
  self->host->count.steals.add(1);
  return stolen{taken.frame, vproc::named(taken.group)};
}

outcome steal_from(worker* victim, worker* self, next_step& next) noexcept {
  item taken{};
  const outcome result = victim->deque.steal(name_of(self->host->bound.get()), taken);
  if (result == outcome::got)
    next = take(self, taken);
  return result;
}

bool steal_from_anybody(worker* self, next_step& next, unsigned most = kTries) noexcept {
  const std::uint32_t count = vproc::slots_in_use();
  for (unsigned tries = 1; tries <= most; ++tries) {
    worker* const victim = vproc::worker_in(self->host->random.below(count));
    if (victim != self && victim != nullptr) {
      const outcome result = steal_from(victim, self, next);
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

// With which slot the vproc's next steal at once begins. There may be fewer slots than when it was
// drawn.
std::uint32_t first_slot(const vproc::vproc* host, std::uint32_t count) noexcept {
  return host->next_victim < count ? host->next_victim : 0;
}
std::uint32_t slot_after(std::uint32_t slot, std::uint32_t count) noexcept {
  return slot + 1 < count ? slot + 1 : 0;
}

// Looks at a few workers before the vproc counts as searching. No publisher relies on this look, so
// whatever it finds it need not hand over (sync/README.md).
bool steal_at_once(worker* self, next_step& next) noexcept {
  constexpr std::uint32_t most = 4;
  if (!may_steal_at_once(self) || !take_stack(self))
    return false;
  const std::uint32_t count = vproc::slots_in_use();
  std::uint32_t slot = first_slot(self->host, count);
  self->host->next_victim = self->host->random.below(count);
  for (std::uint32_t left = std::min(count, most); left != 0; --left) {
    worker* const victim = vproc::worker_in(slot);
    if (victim != self && victim != nullptr && steal_from(victim, self, next) == outcome::got) {
      note_steal_at_once(self);
      return true;
    }
    slot = slot_after(slot, count);
  }
  return false;
}

bool steal_from_suspended(worker* self, next_step& next) noexcept {
  item taken{};
  const bool got = vproc::suspended.steal(self->host->bound.get(), taken);
  if (got)
    next = take(self, taken);
  return got;
}

bool steal_starved(worker* self, next_step& next) noexcept {
  return vproc::any_other_worker(self, [self, &next](worker* victim) {
    return victim->deque.publish_for_owner(name_of(self->host->bound.get())) &&
           steal_from(victim, self, next) == outcome::got;
  });
}

// Finds what the vproc may go on with without stealing.
bool go_on(worker* self, next_step& next) noexcept {
  group* const bound = self->host->bound.get();
  if (bound != nullptr && !self->host->member.get())
    if (scope_frame* const root = bound->take_finished()) {
      next = finished_root{root};
      return true;
    }
  fiber* const ready = vproc::take_ready(self->host);
  next = ready;
  return ready != nullptr;
}

// Takes a fiber that another vproc keeps, but not at the first look (vproc/ready_queues.h).
bool steal_fiber(worker* self, vproc::ready_seen& seen, next_step& next) noexcept {
  fiber* const taken = vproc::steal_ready(self->host, seen);
  next = taken;
  return taken != nullptr;
}

// Looks once for work of the arena that the vproc is bound to.
bool search_arena(worker* self, vproc::ready_seen& seen, next_step& next) noexcept {
  return go_on(self, next) || steal_from_anybody(self, next) || go_on(self, next) ||
         steal_fiber(self, seen, next) || steal_from_suspended(self, next) ||
         steal_starved(self, next);
}

// Joins an arena that has a place and work. The vproc is a member as long as it finds more there.
bool visit_arenas(worker* self, vproc::ready_seen& seen, next_step& next) noexcept {
  vproc::vproc* const host = self->host;
  if (host->bound.get() != nullptr)
    return false;
  for (std::size_t i = 0; group* const joined = vproc::take_place(i); ++i) {
    // It still counts as searching for all groups, so it does not look long.
    host->bound.set(joined);
    host->member.set(true);
    const bool found = search_arena(self, seen, next);
    host->bound.set(nullptr);
    host->member.set(false);
    if (found) {
      join_while_searching(self, joined);
      return true;
    }
    vproc::give_place_back(joined);
  }
  return false;
}

// Looks for more work of the member's arena; a member that finds nothing leaves, and so does one
// whose place was lent only.
bool stay_member(worker* self, next_step& next) noexcept {
  vproc::vproc* const host = self->host;
  const bool may_steal = self->stack != stack::no_stack || !stack::may_run_out();
  const bool must_leave =
      vproc::too_many_members(host->bound.get()) || (host->spare.get() && vproc::too_many_spares());
  vproc::ready_seen seen;
  if (may_steal && !must_leave && search_arena(self, seen, next))
    return true;
  vproc::share_ready(host); // before it leaves: its own queue has fibers of the arena
  vproc::give_place_back(host->bound.get());
  host->bound.set(nullptr);
  host->member.set(false);
  return false;
}

// Gives back dead pages of one stack, if the charge is above the watermark (stack/retirement.h). A
// bound vproc does not: it must come back to its group soon. True: a strand was to resume on that
// stack meanwhile, and this vproc resumes it.
bool reclaim_stacks(worker* self, next_step& next) noexcept {
  stack::handoff strand;
  if (self->host->bound.get() != nullptr || !stack::above_watermark() || !stack::reclaim(strand))
    return false;
  self->host->count.handoffs.add(1);
  if (strand.group == nullptr) { // a fiber; a main path's hand-over names its group
    next = static_cast<fiber*>(strand.frame);
    return true;
  }
  const auto* const named = static_cast<fork_record::frame_type*>(strand.frame);
  see_joined(join::place_of(named)); // its scope lies in the frame
  next = joined{join::scope_of(named), static_cast<group*>(strand.group)};
  return true;
}

} // namespace

next_step find_work(worker* self, bool forked_first) noexcept {
  next_step next;
  // Where all virtual workers have a strand, these take turns.
  forked_first |= self->host->set_aside.number() < vproc::virtual_workers() &&
                  vproc::virtual_workers() > 1 && self->host->random.below(2) == 0;
  if (forked_first && !group_finished(self) && take_stack(self) && steal_from_suspended(self, next))
    return next;
  if (self->host->member.get() && stay_member(self, next))
    return next;
  if (!must_rest(self) && go_on(self, next))
    return next;
  const unsigned rest_us = note_end_of_run(self);
  if (rest_us == 0 && steal_at_once(self, next))
    return next;
  begin_search(self);
  rest_after_vain_steals(self, rest_us);
  vproc::ready_seen seen;
  unsigned nap_us = 50;
  const bool brief = lives_on_events(self);
  const unsigned rounds = brief ? 1 : kRounds;
  for (unsigned round = 1;; ++round) {
    if (must_rest(self) && !may_go_on(self))
      rest(self);
    look_for_events();
    const bool may_steal = wait_for_stack(self);
    if (go_on(self, next))
      break;
    if (vproc::is_to_end(self->host)) {
      next = pool_ended{};
      break;
    }
    if (must_rest(self) || !may_steal)
      continue;
    if (steal_from_anybody(self, next, brief ? kBriefTries : kTries))
      break;
    if (may_go_on(self))
      continue;
    if (steal_fiber(self, seen, next) || steal_from_suspended(self, next) ||
        steal_starved(self, next) || visit_arenas(self, seen, next) || reclaim_stacks(self, next))
      break;
    if (round % rounds == 0 && seen.any &&
        (nap_us < kLongestNap_us || vproc::may_steal_ready(self->host)))
      base::sleep_us(nap_us = std::min(2 * nap_us, kLongestNap_us)); // until its keeper runs it
    else if (round % rounds == 0 &&
             !(self->host->bound.get() == nullptr && stack::above_watermark()))
      sleep(self);
  }
  end_search(self, next);
  return next;
}

void expect_steal(const worker* self) noexcept {
  const std::uint32_t count = vproc::slots_in_use();
  const std::uint32_t slot = first_slot(self->host, count);
  worker* victim = vproc::worker_in(slot);
  if (victim == self)
    victim = vproc::worker_in(slot_after(slot, count));
  const auto hint = [](const auto& deque) { // generic, so that a baseline's need not have it
    if constexpr (requires { deque.expect_steal(); })
      deque.expect_steal();
  };
  if (victim != nullptr)
    hint(victim->deque);
}

bool thief_may_come(const worker* self) noexcept {
  const group* const published = self->group;
  return vproc::any_other_vproc(self->host, [published](const vproc::vproc* host) {
    const group* const wanted = host->searches_for.get();
    const bool joins = wanted == nullptr && (!published->closed || vproc::has_place(published));
    return host->searches.get() && (wanted == published || joins);
  });
}

void wait_for_thief(worker* self) noexcept {
  using clock = std::chrono::steady_clock;
  constexpr unsigned kPatience = 20000;
  constexpr std::chrono::milliseconds kTime{5}; // in case other programs use the processors
  vproc::vproc* const host = self->host;
  if (!vproc::steals_forced() || host->random.below(4) == 0 || !host->forced.begin())
    return;
  const auto end = clock::now() + kTime;
  for (unsigned tries = 1; tries < kPatience && self->deque.anything_public(); ++tries) {
    if (tries % 64 == 0 && (clock::now() > end || !thief_may_come(self)))
      break;
    base::wait_briefly(tries);
  }
  host->forced.waited(clock::now() > end);
}

} // namespace nopal::inline NOPAL_ABI::sched
