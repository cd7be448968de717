// SPDX-License-Identifier: MIT
// An idle vproc that is bound to no group gives back dead stack pages above the watermark
// (stack/retirement.h). A bound one must come back to its group soon.
#include "nopal/sched/reclaim.h"

namespace nopal::inline NOPAL_ABI::sched {

bool reclaim_stacks(worker* self, next_step& next) noexcept {
  stack::handoff strand;
  if (self->host->bound != nullptr || !stack::above_watermark() || !stack::reclaim(strand))
    return false;
  self->host->count.handoffs.add(1);
  // The hand-over names a group for a main path at its join, and none for a fiber (park.cc).
  if (strand.group == nullptr)
    next = static_cast<fiber*>(strand.frame);
  else
    next = joined{static_cast<scope_frame*>(strand.frame), static_cast<group*>(strand.group)};
  return true;
}

} // namespace nopal::inline NOPAL_ABI::sched
