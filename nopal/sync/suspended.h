// SPDX-License-Identifier: MIT
// The list of suspended workers: those that a waiting strand has left with open forks in their
// deques. Thieves look here when the vprocs' workers have nothing.
//
// A Worker has `next` and `before` (linked_queue.h), a group, and a deque. As no vproc runs it, a
// thief publishes in its name without a barrier, under the lock of the list, which `remove` takes
// too.
//
// Contract: a worker is in the list from `add` to `remove`, unless a thief has seen before that
//           nothing is open any more.
// Orders: the count is relaxed. `add` comes before the release store that puts another worker into
// the slot (vproc/table.cc); a sleeper looks at the slots, with acquire, and then here. So it sees
// the worker in its slot or in the list (README.md, "Suspended workers").
#pragma once

#include "nopal/config.h"
#include "nopal/deque/public_ring.h"
#include "nopal/sync/shared_queue.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// What deques call a group (group.h); in models, where no group is closed, itself.
template <class Group> Group* name_of(Group* group) noexcept { return group; }

template <class Worker> class suspended_workers {
public:
  bool empty() const noexcept { return workers_.empty(); }

  // No vproc runs the worker from now on.
  void add(Worker* left) noexcept { workers_.add(left); }
  // A vproc is about to run the worker: no thief is at work with it then.
  void remove(Worker* wanted) noexcept { workers_.remove(wanted); }

  // Takes the oldest fork of the first worker that has one, of this group if it is not null.
  // Workers in which nothing is open any more leave the list.
  template <class Group, class Entry> bool steal(Group* wanted, Entry& taken) noexcept {
    if (workers_.empty())
      return false;
    const base::locked guard{workers_.lock()};
    bool got = false;
    for (Worker* victim = workers_.queue().first(); victim != nullptr && !got;) {
      Worker* const next = victim->next;
      if (wanted == nullptr || victim->group == wanted) {
        victim->deque.publish_for_absent_owner();
        got = victim->deque.steal(name_of(wanted), taken) == deque::outcome::got;
        if (!got && !victim->deque.has_work(nullptr)) // else another thief was faster
          workers_.queue().remove(victim);
      }
      victim = next;
    }
    return got;
  }

  // A sleeper's last look.
  template <class Group> bool has_work(Group* wanted) noexcept {
    return workers_.holds([wanted](Worker* left) {
      return (wanted == nullptr || left->group == wanted) && left->deque.has_work(name_of(wanted));
    });
  }

private:
  shared_queue<Worker, by_next_and_before> workers_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
