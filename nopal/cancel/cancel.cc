// SPDX-License-Identifier: MIT
// The order in which a node is cancelled, and shields.
#include "nopal/cancel/cancel.h"

#include "nopal/cancel/observers.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/timer.h"

namespace nopal::inline NOPAL_ABI::cancel {

void cancel(join::cancelable& node) noexcept {
  if (!node.mark()) // first, so that a strand that is told finds the mark
    return;         // only one of several cancellers goes on, so the announcement counts once
  sched::announce_stop();
  tell_observers();
}

std::vector<const join::cancelable*> enclosing_regions() {
  return sched::regions_above(sched::this_strand());
}

void begin_shield() noexcept { sched::note_shield_begins(); }
// Inside the shield the strand may have taken its vproc's signal in vain, so it looks again.
void end_shield() noexcept {
  sched::note_shield_ends();
  sched::look_at_next_fork();
}

void begin_alternatives() noexcept {
  sched::start_pool(); // or there is no timer yet
  vproc::begin_alternatives();
}

} // namespace nopal::inline NOPAL_ABI::cancel
