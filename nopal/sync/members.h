// SPDX-License-Identifier: MIT
// The fibers that a cancelable has (nopal/cancelable.h), and those that wait until it has none. A
// fiber counts at one node, and at all nodes above that one.
//
// Contract:  a fiber that was told that there is no member, by `join` or by being made ready, sees
//            what all members did. A member that begins after that sees that the node is marked, if
//            it was before the `join`. The fiber that was told may destroy the node, and those
//            above that have no other members.
// Orders:    the locks'. `end_one` takes those of a node and of all above it, lowest first, before
//            it unlocks the lowest: so nobody is told at one node as long as the member counts at
//            another. It leaves each object alone when it unlocks it.
// Paper: manticore-icfp08, section 6.1 (an inactive cancelable).
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/sync/wait_list.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> class members {
public:
  explicit members(members* above) noexcept : above_{above} {}

  void begin_one() noexcept {
    for (members* at = this; at != nullptr; at = at->above_) {
      const base::locked guard{at->waiting_.lock()};
      at->number_ = at->number_ + 1;
    }
  }
  // Returns the first of those that wait where this was the last member; each names the next.
  Fiber* end_one() noexcept {
    linked_queue<Fiber, by_next_waiting> ready;
    for (members* at = this; at != nullptr; at = at->above_) {
      at->waiting_.lock().lock();
      at->number_ = at->number_ - 1;
      while (Fiber* const next =
                 at->number_ == 0 ? at->waiting_.queue().take(claimable{}) : nullptr)
        ready.append(next);
    }
    for (members* at = this; at != nullptr;) {
      members* const above = at->above_; // `at` may be gone when it is unlocked
      at->waiting_.lock().unlock();
      at = above;
    }
    return ready.first();
  }
  // False: there is no member, and the fiber need not wait.
  bool join(Fiber* fiber) noexcept {
    return waiting_.join(fiber, [this] { return number_ == 0; });
  }
  // A fiber that waited and was cancelled.
  void leave(const Fiber* fiber) noexcept { waiting_.remove(fiber); }
  bool any() noexcept {
    const base::locked guard{waiting_.lock()};
    return number_ != 0;
  }

private:
  members* const above_;
  base::handed_over<std::size_t> number_{0}; // waiting_'s lock guards it
  wait_list<Fiber> waiting_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
