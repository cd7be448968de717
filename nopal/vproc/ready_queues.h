// SPDX-License-Identifier: MIT
// The fibers that are ready, and how a vproc takes one of them. How a fiber becomes ready: ready.h.
//
//   remote   each vproc's: fibers that are to run on that vproc and on no other
//   own      each vproc's: fibers that its thread made ready (sync/local_queue.h)
//   shared   one queue: fibers that all vprocs take
//
// A thread of the pool runs any fiber; a thread that waits for its group, only that group's fibers.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/shared_queue.h"
#include "nopal/vproc/fiber.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

extern sync::shared_queue<fiber> shared_ready;

// True for the fibers that a vproc bound to this group may run (null: bound to none).
inline auto runs_when_bound_to(const group* bound) noexcept {
  return [bound](const fiber* strand) {
    return strand->of == bound || (bound == nullptr && !strand->of->closed);
  };
}

// The scheduler: takes the fiber that has been ready longest, from the vproc's remote fibers, or
// else from its own, or else from the shared ones; null: there is none.
fiber* take_ready(vproc* taker) noexcept;
bool any_ready(vproc* taker) noexcept;
// Whether a shared fiber of this group is ready.
bool any_ready_of(const group* wanted) noexcept;
// Any thread: how many fibers are ready that this vproc might run. The number may be wrong.
std::uint32_t seem_ready(const vproc* taker) noexcept;

// A thief's look at the fibers that other vprocs keep. A vproc that is about to run its fiber
// should run it, and most are, where fibers talk to one another; so the thief takes a fiber only
// from a vproc that has not turned to its fibers since the thief looked before.
struct ready_seen {
  bool there = false;
  std::uint32_t turns = 0;
};
fiber* steal_ready(vproc* thief, ready_seen& before) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
