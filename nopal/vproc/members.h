// SPDX-License-Identifier: MIT
// The fibers that a cancelable has (nopal/cancelable.h), and who waits until it has none.
//
// Contract:  who was told that there is no member, by `join` or by being made ready, sees what all
//            members did. A member that begins after that sees that the node is marked, if it was
//            before the `join`.
// Orders:    the lock's. `end_one` leaves the object alone when it unlocks, so that who was told
//            may destroy it.
// Paper: manticore-icfp08, section 6.1 (an inactive cancelable).
#pragma once

#include "nopal/config.h"
#include "nopal/deque/spin_lock.h"
#include "nopal/vproc/queues.h"

#include <cstddef>

namespace nopal::inline NOPAL_ABI::vproc {

template <class Fiber> class members {
public:
  void begin_one() noexcept {
    const deque::locked guard{lock_};
    number_ = number_ + 1;
  }
  // Returns the first of those that wait, if this was the last member; each names the next.
  Fiber* end_one() noexcept {
    const deque::locked guard{lock_};
    number_ = number_ - 1;
    return number_ == 0 ? queue_.take_all() : nullptr;
  }
  // False: there is no member, and the fiber need not wait.
  bool join(Fiber* one) noexcept {
    const deque::locked guard{lock_};
    if (number_ == 0)
      return false;
    queue_.append(one);
    return true;
  }
  bool any() noexcept {
    const deque::locked guard{lock_};
    return number_ != 0;
  }

private:
  deque::spin_lock lock_;
  base::handed_over<std::size_t> number_{0};
  linked_queue<Fiber, by_next_waiting> queue_;
};

} // namespace nopal::inline NOPAL_ABI::vproc
