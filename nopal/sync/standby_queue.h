// SPDX-License-Identifier: MIT
// Items of work, and runners that call them one after the other (nopal/work_queue.h). An item may
// wait for another one, and then keeps its runner. So where items are left one more runner is
// ready, or looks for items, before one calls an item: the standby.
//
// Contract:  an item that was added is taken once, by a runner that sees what was written before,
//            whatever other items wait for. Whoever finds that there is a standby already finds
//            that `begun` has counted it.
// Invariant: (lock free)  if an item is in the queue, there is a standby. A standby that takes the
//            lock is none any more: it takes an item, looks for one, which makes it one again, or
//            ends.
// Orders:    the lock's. The count of items is relaxed: a runner that looks reads it as a hint.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/linked_queue.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// An Item has a member `handed_over<Item*> next`.
template <class Item> class standby_queue {
public:
  // True: the caller is to make a runner, the standby, for which `begun` was called under the lock.
  template <class Begun> bool add(Item* added, bool first, Begun begun) noexcept {
    const base::locked guard{lock_};
    if (first)
      items_.prepend(added);
    else
      items_.append(added);
    return begin_standby(begun);
  }

  // A runner's next step. It calls the item, if it has one, after it has made a runner if it is to;
  // or it looks for items and asks again; or it ends.
  struct step {
    Item* item = nullptr;
    bool makes_runner = false;
    bool ends = false;
    bool stands_by = false; // as it looks
  };
  // A new runner stands by. One that has looked, or may not, ends where there is no item; and one
  // beyond `most` where another one stands by: it has gone on after a wait, or a tick.
  template <class Begun>
  step take(bool stands_by, bool may_look, std::uint32_t most, Begun begun) noexcept {
    const base::locked guard{lock_};
    if (stands_by)
      standby_ = false;
    const bool surplus = standby_ && runners_ > most;
    if (Item* const first = surplus ? nullptr : items_.take())
      return {first, !items_.empty() && begin_standby(begun)};
    if (surplus || !may_look) {
      runners_ = runners_ - 1;
      return {.ends = true};
    }
    const bool becomes_it = !standby_;
    standby_ = true;
    return {.stands_by = becomes_it};
  }

  bool seems_empty() const noexcept { return items_.count() == 0; }

private:
  template <class Begun> bool begin_standby(Begun begun) noexcept {
    if (standby_)
      return false;
    standby_ = true;
    runners_ = runners_ + 1;
    begun();
    return true;
  }

  base::spin_lock lock_;
  counted_queue<Item> items_;
  base::handed_over<std::uint32_t> runners_{0}; // that were begun and have not ended
  base::handed_over<bool> standby_{false};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
