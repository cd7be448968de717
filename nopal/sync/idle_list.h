// SPDX-License-Identifier: MIT
// The instances of a scheduler that have nothing to run (fibers/actions.h), where fibers are kept
// without a lock that all share. A Member has a member `handed_over<Member*> next_idle`, which
// belongs to the list.
//
// Roles:     keeper  keeps a fiber, then calls take_after_put
//            idler   finds no fiber, calls add, then looks once more; it calls `take` if it finds
//                    one, for itself or another member
// Contract:  a fiber that was kept was seen by an idler's last look, or the keeper sees that
//            member idle.
// Invariant: (lock_ free)  count_ is the number of members in the list.
// Orders:
//   W  take_after_put: full fence between the put and the look at count_. Partner: F.
//   F  add: full fence between the change of count_ and the idler's last look. Partner: W. The two
//      looks cannot both miss. count_ itself is relaxed.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Member> class idle_list {
public:
  void add(Member* one) noexcept {
    {
      const base::locked guard{lock_};
      one->next_idle = static_cast<Member*>(first_);
      first_ = one;
      count_.store(count_.load(base::relaxed) + 1, base::relaxed);
    }
    base::full_fence(); // F
  }

  // Null: none is idle.
  Member* take() noexcept {
    const base::locked guard{lock_};
    Member* const one = first_;
    if (one == nullptr)
      return nullptr;
    first_ = static_cast<Member*>(one->next_idle);
    count_.store(count_.load(base::relaxed) - 1, base::relaxed);
    return one;
  }
  Member* take_after_put() noexcept {
    base::full_fence(); // W
    return count_.load(base::relaxed) == 0 ? nullptr : take();
  }

  // No other thread uses the list.
  void clear() noexcept {
    first_ = nullptr;
    count_.store(0, base::relaxed);
  }

private:
  base::spin_lock lock_;
  base::handed_over<Member*> first_{nullptr};
  base::atomic<std::uint32_t> count_{0};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
