// SPDX-License-Identifier: MIT
// The items of work that a runner has taken and not called yet, the next one first.
//
// Contract: each item is taken once. Only the runner adds a batch, where there is no item; its
//           items and what they fork add single ones.
// Orders:   the lock's. The count is relaxed: for others it is a hint.
#pragma once

#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/batch_queue.h"
#include "nopal/sync/linked_queue.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Item> class runner_items {
public:
  std::uint32_t count() const noexcept { return items_.count(); }

  Item* take() noexcept {
    if (count() == 0)
      return nullptr;
    const base::locked guard{lock_};
    taken_ = taken_ + 1;
    // This writes to the next item, whose cache line comes while this one is called.
    return items_.take();
  }
  // True: there was no item.
  bool prepend(Item* added) noexcept {
    const base::locked guard{lock_};
    items_.prepend(added);
    return count() == 1;
  }
  // The items behind the first one. False: there are none.
  bool keep_rest(batch<Item> from) noexcept {
    if (from.number < 2)
      return false;
    const base::locked guard{lock_};
    items_.adopt(from.first->next, from.last, static_cast<int>(from.number) - 1);
    return true;
  }

  // Another runner: the last half.
  batch<Item> steal_half() noexcept {
    if (count() == 0)
      return {};
    const base::locked guard{lock_};
    const std::uint32_t number = (count() + 1) / 2;
    if (number == 0)
      return {};
    Item* const last = items_.last();
    Item* first = last;
    for (std::uint32_t i = 1; i < number; ++i)
      first = first->before;
    items_.cut(first, static_cast<int>(number));
    return {first, last, number};
  }
  // Another runner: all, if none was taken since it asked last.
  batch<Item> steal_stuck() noexcept {
    const base::locked guard{lock_};
    const std::uint32_t number = count();
    if (number == 0 || taken_ != seen_) {
      seen_ = static_cast<std::uint32_t>(taken_);
      return {};
    }
    const batch<Item> all{items_.first(), items_.last(), number};
    items_.cut_all(static_cast<int>(number));
    return all;
  }

private:
  base::spin_lock lock_;
  base::handed_over<std::uint32_t> taken_{0};
  base::handed_over<std::uint32_t> seen_{0};
  counted_queue<Item, by_next_and_before> items_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
