// SPDX-License-Identifier: MIT
//
// The list of suspended workers: those that a waiting strand has left with open forks in their
// deques. Thieves look here when the vprocs' workers have nothing.
//
// A Worker has a `handed_over<Worker*> next_suspended`, a group `of`, and a deque. As no vproc runs
// it, a thief publishes in its name without a barrier, under the lock of the list, which `remove`
// takes too.
//
// Contract: a worker is in the list from `add` to `remove`, unless a thief has seen before that
//           nothing is open any more.
// Orders: the count is relaxed. `add` comes before the release store that puts another worker into
// the slot (sched/table.cc); a sleeper looks at the slots, with acquire, and then here. So it sees
// the worker in its slot or in the list (README.md, "Suspended workers").
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/deque/public_ring.h"
#include "nopal/deque/spin_lock.h"

#include <cstdint>

namespace nopal::inline NOPAL_ABI::vproc {

template <class Worker> class suspended_workers {
public:
  bool empty() const noexcept { return count_.load(base::relaxed) == 0; }

  // No vproc runs it from now on.
  void add(Worker* one) noexcept {
    const deque::locked guard{lock_};
    Worker* const after = first_;
    one->next_suspended = after;
    first_ = one;
    count_.fetch_add(1, base::relaxed);
  }

  // A vproc is about to run it.
  void remove(Worker* one) noexcept {
    const deque::locked guard{lock_};
    for (link* at = &first_; Worker* const listed = *at; at = &listed->next_suspended)
      if (listed == one)
        return unlink(at);
  }

  // Takes the oldest fork of the first worker that has one, of this group if it is not null.
  // `victim` is that worker.
  template <class Group, class Entry>
  bool steal(Group* wanted, Entry& taken, Worker*& victim) noexcept {
    if (empty())
      return false;
    const deque::locked guard{lock_};
    link* at = &first_;
    while (Worker* const one = *at) {
      if (wanted == nullptr || one->of == wanted) {
        one->deque.publish_for_absent_owner();
        if (one->deque.steal(wanted, taken) == deque::outcome::got) {
          victim = one;
          return true;
        }
        if (!one->deque.has_work(nullptr)) { // else another thief was faster, and there is more
          unlink(at);
          continue;
        }
      }
      at = &one->next_suspended;
    }
    return false;
  }

  // A sleeper's last look.
  template <class Group> bool has_work(Group* wanted) noexcept {
    if (empty())
      return false;
    const deque::locked guard{lock_};
    for (Worker* one = first_; one != nullptr; one = one->next_suspended)
      if ((wanted == nullptr || one->of == wanted) && one->deque.has_work(wanted))
        return true;
    return false;
  }

private:
  using link = base::handed_over<Worker*>;

  // Lock held.
  void unlink(link* at) noexcept {
    Worker* const one = *at;
    Worker* const after = one->next_suspended;
    *at = after;
    count_.fetch_sub(1, base::relaxed);
  }

  deque::spin_lock lock_;
  link first_{nullptr};
  base::atomic<std::uint32_t> count_{0};
};

} // namespace nopal::inline NOPAL_ABI::vproc
