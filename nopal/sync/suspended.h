// SPDX-License-Identifier: MIT
// The list of suspended workers: those that a waiting strand has left with open forks in their
// deques. Thieves look here when the vprocs' workers have nothing.
//
// A Worker has `next` (queues.h), a group `of`, and a deque. As no vproc runs it, a thief publishes
// in its name without a barrier, under the lock of the list, which `remove` takes too.
//
// Contract: a worker is in the list from `add` to `remove`, unless a thief has seen before that
//           nothing is open any more.
// Orders: the count is relaxed. `add` comes before the release store that puts another worker into
// the slot (vproc/table.cc); a sleeper looks at the slots, with acquire, and then here. So it sees
// the worker in its slot or in the list (README.md, "Suspended workers").
#pragma once

#include "nopal/config.h"
#include "nopal/deque/public_ring.h"
#include "nopal/sync/queues.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// What deques call a group (group.h); in models, where no group is closed, itself.
template <class Group> Group* name_of(Group* one) noexcept { return one; }

template <class Worker> class suspended_workers : shared_queue<Worker> {
  using queue = shared_queue<Worker>;
  using queue::lock_;

public:
  using queue::add; // no vproc runs it from now on
  using queue::empty;

  // A vproc is about to run it. Takes the lock even if the list is empty: a thief that has just
  // taken this worker out is done with it then.
  void remove(Worker* one) noexcept {
    const base::locked guard{lock_};
    queue::take_out([one](const Worker* at) { return at == one; });
  }

  // Takes the oldest fork of the first worker that has one, of this group if it is not null, and
  // calls `see` with that worker, which no vproc runs before `see` returns. Workers in which
  // nothing is open any more leave the list.
  template <class Group, class Entry, class See>
  bool steal(Group* wanted, Entry& taken, See see) noexcept {
    if (empty())
      return false;
    const base::locked guard{lock_};
    bool got = false;
    const auto steal_or_leave = [&](Worker* one) { // true: nothing is open there any more
      if (got || (wanted != nullptr && one->group != wanted))
        return false;
      one->deque.publish_for_absent_owner();
      got = one->deque.steal(name_of(wanted), taken) == deque::outcome::got;
      if (got)
        see(one);
      return !got && !one->deque.has_work(nullptr); // another thief may have been faster
    };
    while (queue::take_out(steal_or_leave) != nullptr)
      continue;
    return got;
  }

  // A sleeper's last look.
  template <class Group> bool has_work(Group* wanted) noexcept {
    return queue::holds([wanted](Worker* one) {
      return (wanted == nullptr || one->group == wanted) && one->deque.has_work(name_of(wanted));
    });
  }
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
