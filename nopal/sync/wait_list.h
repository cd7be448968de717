// SPDX-License-Identifier: MIT
// A queue and its lock, under which what the members wait for changes, too: the fibers that wait
// for a mutex, a condition, an event, or the end of a cancelable's members.
//
// Contract: a member that has joined is found by each thread that holds the lock after that; a
//           member that has not joined has found under the lock that it need not wait.
// Orders:   the lock's.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/linked_queue.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Member, class Queue = linked_queue<Member, by_next_waiting>> class wait_list {
public:
  // False: `need_not_wait`, which is called under the lock, was true, and the member was not added.
  template <class NeedNotWait> bool join(Member* last, NeedNotWait need_not_wait) noexcept {
    const base::locked guard{lock_};
    if (need_not_wait())
      return false;
    queue_.append(last);
    return true;
  }
  // If it is there. Takes the lock in any case: a thread that has just taken this member out is
  // done with the list then.
  void remove(Member* member) noexcept {
    const base::locked guard{lock_};
    queue_.remove(member);
  }

  // For a caller that changes more than the queue.
  base::spin_lock& lock() noexcept { return lock_; }
  Queue& queue() noexcept { return queue_; } // lock held

protected:
  base::spin_lock lock_;
  Queue queue_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
