// SPDX-License-Identifier: MIT
// The instances of a scheduler that have nothing to run (fibers/actions.h), where fibers are kept
// without a lock that all share. A Member has a member `handed_over<Member*> next_idle`, which
// belongs to the list. The member that was added last is taken first.
//
// Roles:     keeper  keeps a fiber, then calls take_after_put
//            idler   finds no fiber, calls add, then looks once more; it calls `take` if it finds
//                    one, for itself or another member
// Contract:  a fiber that was kept was seen by an idler's last look, or the keeper sees that
//            member idle.
// Orders:
//   W  take_after_put: full fence between the put and the look at the count. Partner: F.
//   F  add: full fence between the change of the count and the idler's last look. Partner: W. The
//      two looks cannot both miss.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"
#include "nopal/sync/shared_queue.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

struct by_next_idle {
  template <class Member> static auto& link(Member* from) noexcept { return from->next_idle; }
};

template <class Member> class idle_list {
public:
  void add(Member* idle) noexcept {
    {
      const base::locked guard{idle_.lock()};
      idle_.queue().prepend(idle);
    }
    base::full_fence(); // F
  }

  // Null: none is idle.
  Member* take() noexcept { return idle_.take(); }
  Member* take_after_put() noexcept {
    base::full_fence(); // W
    return idle_.take();
  }

  void clear() noexcept { idle_.take_all(); }

private:
  shared_queue<Member, by_next_idle> idle_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
