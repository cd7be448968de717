// SPDX-License-Identifier: MIT
// The calling strand preempts itself, where its vproc was told so.
#include "nopal/sched/preemption.h"

#include "nopal/sched/ancestry.h"
#include "nopal/sched/park.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/meter.h"
#include "nopal/vproc/settings.h"
#include "nopal/vproc/table.h"
#include "nopal/vproc/timer.h"
#include "nopal/vproc/wake.h"
#include "nopal/vproc/worker.h"

namespace nopal::inline NOPAL_ABI::sched {
namespace {

base::count of_no_strand;

// Another virtual worker may go on at any time, as another thread might.
bool must_give_way(vproc::vproc* host) noexcept {
  return host->signals.raised(sync::preempt_requested) ||
         (vproc::steals_forced() && host->random.below(8) == 0) ||
         (vproc::virtual_workers() > 1 && host->random.below(2) == 0);
}

} // namespace

void give_way_if_told() noexcept {
  vproc::vproc* const host = vproc::strands_own()->host;
  if (!must_give_way(host) || current_masks()->any())
    return;
  vproc::heed_preemption(host); // before the turn ends: the next strand's turn begins unasked
  host->count.preemptions.add(1);
  if (vproc::virtual_workers() == 0)
    return end_turn();
  host->set_aside.add(); // this vproc runs another strand until end_turn returns
  end_turn();
  host->set_aside.subtract();
}

vproc::meter* current_meter() noexcept {
  if (!vproc::meter::any())
    return nullptr;
  const fiber_context* const context = current_context();
  return context != nullptr && context->computation->group == vproc::current()->group
             ? context->computation->meter
             : nullptr;
}

void spend_fuel() noexcept {
  vproc::meter* const from = current_meter();
  if (from == nullptr || current_masks()->any())
    return;
  while (!from->spend())
    end_turn();                  // its scheduler keeps it until there is fuel
  vproc::current()->interrupt(); // the next fork or poll comes here, too
}

bool stops_at_poll_slow() {
  vproc::worker* const self = vproc::current();
  if (!vproc::is_worker(self))
    return false;
  const base::unseen while_it_looks;
  self->adopt_late(); // without a stack the limit is lowered, and each poll would come here
  give_way_if_told();
  spend_fuel();
  return stops_here();
}

void poll_slow() {
  if (stops_at_poll_slow())
    join::throw_cancelled();
}

bool runs_strand() noexcept { return vproc::on_strand(); }

bool seed_decides() noexcept {
  start_pool(); // the options may not be decided yet
  return vproc::steals_forced() || vproc::virtual_workers() != 0;
}

// A steal between two cores takes about two microseconds, and the victim's join as long again. A
// thread that must be woken comes after ten or more, and waking it takes some.
bool worth_a_steal(std::uint64_t cycles) noexcept {
  constexpr std::uint64_t thief_looks = 1 << 14; // seven microseconds at 2.3 GHz
  constexpr std::uint64_t thief_sleeps = 1 << 16;
  if (cycles >= thief_sleeps || vproc::steals_forced() || vproc::virtual_workers() != 0)
    return true;
  return cycles >= thief_looks && (vproc::idle.asleep.load(base::relaxed) == 0 ||
                                   vproc::idle.searching.load(base::relaxed) != 0);
}

// If each vproc has several of many iterations, the first of them may be waited for.
bool worth_a_steal_unseen(std::size_t iterations) noexcept {
  constexpr std::size_t several = 8;
  return iterations < several * (vproc::pool_size() + 1) || vproc::steals_forced() ||
         vproc::virtual_workers() != 0;
}

base::count* current_masks() noexcept {
  if (fiber_context* const context = current_context())
    return &context->masks;
  const vproc::worker* const self = vproc::current();
  return vproc::is_worker(self) ? &self->group->masks : &of_no_strand;
}

void unmasked() noexcept {
  vproc::worker* const self = vproc::current();
  if (vproc::is_worker(self) && self->host->signals.raised(sync::preempt_requested))
    self->interrupt();
}

} // namespace nopal::inline NOPAL_ABI::sched
