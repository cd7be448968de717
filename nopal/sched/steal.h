// SPDX-License-Identifier: MIT
// How a vproc without work searches for some, and how a forced steal waits for its thief.
#pragma once

#include "nopal/config.h"
#include "nopal/sched/step.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sched {

// Blocks until there is something to run. What waiting strands have forked comes first if
// `forked_first`.
next_step find_work(worker* self, bool forked_first) noexcept;

// A hint that the vproc looks for work next: the ring of its first victim comes meanwhile.
void expect_steal(const worker* self) noexcept;

// Whether a vproc searches that can take what this one makes public. If not, a forced steal would
// wait in vain: each other vproc runs a strand, rests, lacks a stack, or waits for another group.
bool thief_may_come(const worker* self) noexcept;
// If steals are forced (vproc/settings.h), may wait until a thief has taken what is public.
void wait_for_thief(worker* self) noexcept;

} // namespace nopal::inline NOPAL_ABI::sched
NOPAL_HIDDEN_END
