// SPDX-License-Identifier: MIT
// How a node is cancelled, and shields.
#include "nopal/cancel/cancel.h"

#include "nopal/cancel/observers.h"
#include "nopal/sched/ancestry.h"
#include "nopal/sched/descent.h"
#include "nopal/sched/schedule.h"
#include "nopal/sched/stop.h"
#include "nopal/vproc/timer.h"

#include <utility>

namespace nopal::inline NOPAL_ABI::cancel {

stop_requests mark_and_tell(join::cancelable& node, std::exception_ptr reason) noexcept {
  stop_requests due;
  if (!node.mark(std::move(reason))) // first, so that a strand that is told finds the mark
    return due; // only one of several cancellers goes on, so the announcement counts once
  sched::announce_stop(
      node.below, node.forked_at.load(base::relaxed),
      [](join::descendant* seen, void* list) {
        if (auto request = static_cast<observer*>(seen)->due())
          static_cast<stop_requests*>(list)->push_back(std::move(request));
      },
      &due);
  return due;
}

// Without locks: callbacks may make and destroy observers. The copies keep the state alive.
void cancel(join::cancelable& node, std::exception_ptr reason) noexcept {
  for (const std::shared_ptr<stop_request>& each : mark_and_tell(node, std::move(reason)))
    each->make();
}

join::ancestor* placed_region(const join::region_frame* frame) noexcept {
  return sched::placed_region(frame, arch::stack_pointer());
}

join::cancelable* seen(join::cancelable* node) noexcept {
  return stack::seen(stack::no_stack, node);
}

std::exception_ptr reason() noexcept { return sched::reason_above(sched::this_strand()); }

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
