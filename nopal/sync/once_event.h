// SPDX-License-Identifier: MIT
// Something that happens once, and the fibers that wait for it (nopal/future.h). A Fiber has a
// member `handed_over<Fiber*> next`, which belongs to the event while the fiber waits.
//
// Contract:  who saw `happened`, and each fiber that `happen` returns, sees what was written
// before.
// Invariant: (lock_ free)  if it has happened, no fiber is in the queue.
// Orders:
//   E  happen: store release. Partner: the acquire of happened. A fiber in the queue relies on what
//      wakes it instead (the ready queue's lock).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/queues.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> class once_event {
public:
  bool happened() const noexcept { return happened_.load(base::acquire) != 0; } // E

  // False: it has happened, and the fiber need not wait.
  bool join(Fiber* one) noexcept {
    const base::locked guard{lock_};
    if (happened_.load(base::relaxed) != 0)
      return false;
    queue_.append(one);
    return true;
  }

  // Once. Returns the first of those that wait, to be made ready; each names the next. The event
  // may be gone before this returns, where somebody who saw it happen may destroy it.
  Fiber* happen() noexcept {
    const base::locked guard{lock_};
    Fiber* const first = queue_.take_all(claimable{});
    happened_.store(1, base::release); // E
    return first;
  }

  // A fiber that was cancelled.
  void leave(const Fiber* one) noexcept {
    const base::locked guard{lock_};
    queue_.take([one](const Fiber* at) { return at == one; });
  }

  // For who destroys the event after it has seen it happen: nobody is in `happen` any more.
  void settle() noexcept { const base::locked guard{lock_}; }

private:
  base::atomic<std::uint32_t> happened_{0};
  base::spin_lock lock_;
  linked_queue<Fiber, by_next_waiting> queue_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
