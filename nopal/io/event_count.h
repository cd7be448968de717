// SPDX-License-Identifier: MIT
// Something that happens again and again, and the fibers that wait until it happens the next time:
// that a descriptor may be read, say (nopal/io).
//
//     seen = count(); try it; if that was in vain: wait until count() != seen
//
// Contract:  what happens after a thread has read `count` either is seen by that thread's `join`,
//            or takes its fiber out of the queue.
// Invariant: (lock free)  each fiber in the queue, but cancelled ones, has seen the last count.
// Orders:
//   C  happen: store release under the lock; count: load acquire, so that the attempt comes after
//      it. `join` compares under the lock.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/wait_list.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::io {

template <class Fiber> class event_count {
public:
  std::uint32_t count() const noexcept { return count_.load(base::acquire); } // C

  // False: it has happened since, and the fiber need not wait.
  bool join(Fiber* fiber, std::uint32_t seen) noexcept {
    return waiting_.join(fiber, [&] { return count_.load(base::relaxed) != seen; });
  }
  // Returns the first of those that wait, to be made ready; each names the next (next_waiting).
  Fiber* happen() noexcept {
    const base::locked guard{waiting_.lock()};
    count_.store(count_.load(base::relaxed) + 1, base::release); // C
    return waiting_.queue().empty() ? nullptr : waiting_.queue().take_all(sync::claimable{});
  }
  bool awaited() noexcept {
    const base::locked guard{waiting_.lock()};
    return !waiting_.queue().empty();
  }
  // A fiber that was cancelled, or has waited too long.
  void leave(Fiber* fiber) noexcept { waiting_.remove(fiber); }

private:
  sync::wait_list<Fiber> waiting_;
  base::atomic<std::uint32_t> count_{0};
};

} // namespace nopal::inline NOPAL_ABI::io
NOPAL_HIDDEN_END
