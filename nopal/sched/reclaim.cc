// SPDX-License-Identifier: MIT
// An idle vproc that is bound to no group gives back dead stack pages, while more are charged than
// should be (stack/retirement.h).
#include "nopal/sched/reclaim.h"

namespace nopal::inline NOPAL_ABI::sched {

bool reclaim_stacks(worker* self, next_step& left) noexcept {
  stack::handoff to_do;
  if (self->host->bound != nullptr || !stack::above_watermark() || !stack::reclaim(to_do))
    return false;
  self->host->count.handoffs.add(1);
  if (to_do.group == nullptr)
    left = static_cast<fiber*>(to_do.frame);
  else
    left = joined{static_cast<scope_frame*>(to_do.frame), static_cast<group*>(to_do.group)};
  return true;
}

} // namespace nopal::inline NOPAL_ABI::sched
