// SPDX-License-Identifier: MIT
// The fibers that a cancelable has (nopal/cancelable.h), and who waits until it has none. A fiber
// counts at one node, and at all nodes above that.
//
// Contract:  who was told that there is no member, by `join` or by being made ready, sees what all
//            members did. A member that begins after that sees that the node is marked, if it was
//            before the `join`. Who was told may destroy the node, and those above that have no
//            other members.
// Orders:    the locks'. `end_one` takes those of a node and of all above it, lowest first, before
//            it unlocks the lowest: so nobody is told at one node as long as the member counts at
//            another. It leaves each object alone when it unlocks it.
// Paper: manticore-icfp08, section 6.1 (an inactive cancelable).
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/queues.h"

#include <cstddef>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Fiber> class members {
public:
  explicit members(members* above) noexcept : above_{above} {}

  void begin_one() noexcept {
    for (members* at = this; at != nullptr; at = at->above_) {
      const base::locked guard{at->lock_};
      at->number_ = at->number_ + 1;
    }
  }
  // Returns the first of those that wait where this was the last member; each names the next.
  Fiber* end_one() noexcept {
    linked_queue<Fiber, by_next_waiting> told;
    for (members* at = this; at != nullptr; at = at->above_) {
      at->lock_.lock();
      at->number_ = at->number_ - 1;
      while (at->number_ == 0 && !at->queue_.empty())
        told.append(at->queue_.take());
    }
    for (members* at = this; at != nullptr;) {
      members* const above = at->above_; // `at` may be gone when it is unlocked
      at->lock_.unlock();
      at = above;
    }
    return told.first();
  }
  // False: there is no member, and the fiber need not wait.
  bool join(Fiber* one) noexcept {
    const base::locked guard{lock_};
    if (number_ == 0)
      return false;
    queue_.append(one);
    return true;
  }
  bool any() noexcept {
    const base::locked guard{lock_};
    return number_ != 0;
  }

private:
  members* const above_;
  base::spin_lock lock_;
  base::handed_over<std::size_t> number_{0};
  linked_queue<Fiber, by_next_waiting> queue_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
