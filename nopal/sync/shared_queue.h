// SPDX-License-Identifier: MIT
// A wait list whose members any thread takes, and that costs no lock while it is empty: the fibers
// that are ready, for vprocs to take; those that wait for a condition; the suspended workers; idle
// instances.
//
// Contract: a thread that takes a ready fiber sees what was written before the fiber was added.
// Orders: the lock's, and the count is relaxed.
//   Ready fibers: `add` comes before the fence W of parking.h and the look for sleepers, a
//   sleeper's last look after its fence F. So both cannot miss.
//   A condition: `add` comes before the unlock of the mutex, so a strand that has held the mutex
//   since sees the count.
#pragma once

#include "nopal/config.h"
#include "nopal/sync/wait_list.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Member, class Link = by_next>
class shared_queue : public wait_list<Member, counted_queue<Member, Link>> {
  using list = wait_list<Member, counted_queue<Member, Link>>;
  using list::lock_;
  using list::queue_;

public:
  std::uint32_t count() const noexcept { return queue_.count(); }
  bool empty() const noexcept { return count() == 0; }

  void add(Member* last) noexcept {
    list::join(last, [] { return false; });
  }

  // The same as in linked_queue, under the lock.
  template <class Wanted = any_member> Member* take(Wanted wanted = {}) noexcept {
    if (empty())
      return nullptr;
    const base::locked guard{lock_};
    return queue_.take(wanted);
  }
  template <class Wanted = any_member> Member* take_all(Wanted wanted = {}) noexcept {
    if (empty())
      return nullptr;
    const base::locked guard{lock_};
    return queue_.take_all(wanted);
  }
  template <class Wanted> bool holds(Wanted wanted) noexcept {
    if (empty())
      return false;
    const base::locked guard{lock_};
    return queue_.holds(wanted);
  }
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
