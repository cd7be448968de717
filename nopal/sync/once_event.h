// SPDX-License-Identifier: MIT
// Something that happens once, and the fibers that wait for it (nopal/future.h).
//
// Contract:  a thread that saw `happened`, and each fiber that `happen` returns, sees what was
//            written before.
// Invariant: (lock free)  after it has happened, all fibers in the queue are cancelled ones.
// Orders:    those of base/flag.h. A fiber in the queue relies on what wakes it instead (the ready
//            queue's lock).
#pragma once

#include "nopal/base/flag.h"
#include "nopal/config.h"
#include "nopal/sync/wait_list.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> class once_event {
public:
  bool happened() const noexcept { return happened_.taken(); }

  // False: it has happened, and the fiber need not wait.
  bool join(Fiber* fiber) noexcept {
    return waiting_.join(fiber, [this] { return happened_.taken(); });
  }

  // Once. Returns the first of those that wait, to be made ready; each names the next. The event
  // may be gone before this returns, where a strand that saw it happen may destroy it.
  Fiber* happen() noexcept {
    const base::locked guard{waiting_.lock()};
    Fiber* const first = waiting_.queue().take_all(claimable{});
    happened_.take();
    return first;
  }

  // A fiber that was cancelled.
  void leave(Fiber* fiber) noexcept { waiting_.remove(fiber); }

  // The strand that destroys the event, after it has seen it happen: no thread is in `happen` then.
  void settle() noexcept { const base::locked guard{waiting_.lock()}; }

private:
  base::flag happened_;
  wait_list<Fiber> waiting_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
