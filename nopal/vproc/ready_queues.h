// SPDX-License-Identifier: MIT
// The fibers that are ready, and how a vproc takes one of them. How a fiber becomes ready: ready.h.
//
//   remote   each vproc's: fibers that only that vproc may run
//   own      each vproc's: fibers that its thread made ready (sync/local_queue.h)
//   shared   fibers that all vprocs take
//
// A thread of the pool runs any fiber; a thread that waits for its group, only that group's fibers.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/shared_queue.h"
#include "nopal/vproc/fiber.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::vproc {

// Those that were woken, are new or have yielded come before those whose turn has ended.
class shared_fibers {
public:
  void add(fiber* strand) noexcept { (strand->turn_ended ? preempted_ : woken_).add(strand); }
  std::uint32_t count() const noexcept { return woken_.count() + preempted_.count(); }
  bool empty() const noexcept { return count() == 0; }

  template <class Wanted = sync::any_member>
  fiber* take(Wanted wanted = {}, bool preempted_first = false) noexcept {
    fiber* const found = (preempted_first ? preempted_ : woken_).take(wanted);
    return found != nullptr ? found : (preempted_first ? woken_ : preempted_).take(wanted);
  }
  template <class Wanted> fiber* take_woken(Wanted wanted) noexcept { return woken_.take(wanted); }
  template <class Wanted> bool holds(Wanted wanted) noexcept {
    return woken_.holds(wanted) || preempted_.holds(wanted);
  }

private:
  alignas(64) sync::shared_queue<fiber> woken_;
  alignas(64) sync::shared_queue<fiber> preempted_;
};
extern shared_fibers shared_ready;

// True for the fibers that a vproc bound to this group may run (null: bound to none).
inline auto runs_when_bound_to(const group* bound) noexcept {
  return [bound](const fiber* strand) {
    return strand->group == bound || (bound == nullptr && !strand->group->closed);
  };
}

// Takes the oldest fiber of the first queue that is not empty: remote, own, shared, or now and then
// in another order; null: all are empty. Called by the scheduler.
fiber* take_ready(vproc* taker) noexcept;
bool any_ready(vproc* taker) noexcept;
// Whether a shared fiber of this group is ready.
bool any_ready_of(const group* wanted) noexcept;
// How many fibers are ready that this vproc might run. Any thread; the number may be wrong.
std::uint32_t seem_ready(const vproc* taker) noexcept;

// What a thief saw of the fibers that other vprocs keep. A vproc that will soon turn to its fibers
// should run them itself, as most do where fibers talk to one another. So the thief takes a fiber
// only if those vprocs have not turned to theirs since its last look.
struct ready_seen {
  bool any = false;
  std::uint32_t turns = 0;
};
fiber* steal_ready(vproc* thief, ready_seen& before) noexcept;
// Whether another vproc keeps a fiber that the thief may take. Those that keep any wait meanwhile.
bool may_steal_ready(vproc* thief) noexcept;

} // namespace nopal::inline NOPAL_ABI::vproc
NOPAL_HIDDEN_END
