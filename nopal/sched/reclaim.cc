// SPDX-License-Identifier: MIT
//
// Idle vprocs that are bound to no group give back dead stack pages, while more are charged than
// should be (stack/retirement.h).
#include "nopal/config.h"
#include "nopal/sched/park.h"
#include "nopal/sched/steal.h"

namespace nopal::inline NOPAL_ABI::sched {

bool reclaim_stacks(worker* self, next_step& left) noexcept {
  stack::handoff to_do;
  if (self->host->bound != nullptr || !stack::above_watermark() || !stack::reclaim(to_do))
    return false;
  self->host->count.handoffs.add(1);
  if (fiber* const strand = fiber_of(to_do.frame))
    left = strand;
  else
    left = joined{static_cast<scope_frame*>(to_do.frame), static_cast<group*>(to_do.group)};
  return true;
}

} // namespace nopal::inline NOPAL_ABI::sched
