// SPDX-License-Identifier: MIT
// Waking threads that sleep. Protocol: sync/README.md; how a thread falls asleep: sched/idle.cc.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/parking.h"
#include "nopal/vproc/worker.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// The threads that search and that sleep.
extern sync::idle_count idle;

// Called after a strand of this group became public: wakes the group's thread, or else a thread of
// the pool if none searches. `self` is null if the calling thread may run no strands.
void announce_work(worker* self, group* published) noexcept;
// The same for a fiber that the calling thread has just added to its vproc's own queue.
void announce_ready(worker* self, group* published) noexcept;

// Wakes the thread that sleeps there, if one does.
void wake(worker* self, sync::parking_place& sleeper) noexcept;
// Called after a fiber was put into the vproc's remote queue: wakes its thread. `awaited`: the
// fiber's group, if the vproc is its host. It may have ended, and its object be in use anew.
void wake_vproc(worker* self, vproc* target, group* awaited) noexcept;
// Wakes a thread of the pool that sleeps; false: none sleeps. Begins at a random thread; at the
// first one if `self` is null.
bool wake_pool_thread(worker* self) noexcept;
// Wakes all threads of the pool that sleep.
void wake_pool() noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
