// SPDX-License-Identifier: MIT
// Waking threads that sleep. Protocol: sync/README.md; how a thread falls asleep: sched/idle.cc.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/parking.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// How many threads search and how many sleep.
extern sync::idle_count idle;

// A strand of this group became public: wakes the group's thread, or else a thread of the pool if
// none searches. `self` is null for a thread that may run no strands.
void announce_work(worker* self, group* published) noexcept;
// The same for a fiber that was just added to those which this vproc keeps ready.
void announce_ready(worker* self, group* published) noexcept;

// The thread that sleeps there has something to do.
void wake(worker* self, sync::parking_place& sleeper) noexcept;
// A fiber of this group is ready on this vproc alone.
void wake_vproc(worker* self, vproc* target, group* fibers_group) noexcept;
// Wakes a thread of the pool that sleeps; false: none sleeps. Begins at a random thread; at the
// first one if `self` is null.
bool wake_pool_thread(worker* self) noexcept;
// Wakes all threads of the pool that sleep.
void wake_pool() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
