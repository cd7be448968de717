// SPDX-License-Identifier: MIT
// Items of work in their order. They leave the queue a batch at a time, for as many steps as one
// item would take: so the thread that adds items and those that take them contend for the queue's
// cache line once for each batch.
//
//   oldest_: at most Most items    closed batches of Most items    newest_: less than Most items
//
// A closed batch is linked by `next`, and its last item names the first one of the next batch.
// `before` of its first item is its last item.
//
// Invariant: (lock free)  count = items of oldest_ + Most * (closed batches) + items of newest_.
// Orders:    the lock's. The count is relaxed: a thread that does not hold the lock reads a hint.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/base/spin_lock.h"
#include "nopal/config.h"
#include "nopal/sync/linked_queue.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

// Linked from the first to the last.
template <class Item> struct batch {
  Item* first = nullptr;
  Item* last = nullptr;
  std::uint32_t number = 0;
};

// An Item has members `handed_over<Item*>` next and before.
template <class Item, std::uint32_t Most> class alignas(64) batch_queue {
public:
  std::uint32_t count() const noexcept { return count_.load(base::relaxed); }

  void append(Item* added) noexcept {
    const base::locked guard{lock_};
    newest_.append(added);
    newest_number_ = newest_number_ + 1;
    change_count(1);
    if (newest_number_ != Most)
      return;
    const batch<Item> all = detach(newest_, newest_number_);
    all.first->before = all.last;
    (first_closed_ == nullptr ? first_closed_ : last_closed_->next) = all.first;
    last_closed_ = all.last;
  }
  void prepend(Item* added) noexcept {
    const base::locked guard{lock_};
    if (oldest_number_ == Most) {
      const batch<Item> all = detach(oldest_, oldest_number_);
      all.first->before = all.last;
      all.last->next = static_cast<Item*>(first_closed_);
      if (first_closed_ == nullptr)
        last_closed_ = all.last;
      first_closed_ = all.first;
    }
    oldest_.prepend(added);
    oldest_number_ = oldest_number_ + 1;
    change_count(1);
  }

  // The first items, or none.
  batch<Item> take() noexcept {
    const base::locked guard{lock_};
    const batch<Item> taken = detach();
    change_count(-static_cast<int>(taken.number));
    return taken;
  }

private:
  using list = linked_queue<Item, by_next_and_before>;

  static batch<Item> detach(list& from, base::handed_over<std::uint32_t>& number) noexcept {
    const batch<Item> all{from.first(), from.last(), number};
    from.cut_all(0);
    number = 0;
    return all;
  }
  // Writes to no item: the thread that added them has them in its cache.
  batch<Item> detach() noexcept {
    if (oldest_number_ != 0)
      return detach(oldest_, oldest_number_);
    if (first_closed_ == nullptr)
      return detach(newest_, newest_number_);
    Item* const first = first_closed_;
    Item* const last = first->before;
    first_closed_ = static_cast<Item*>(last->next); // null: it was the last batch
    return {first, last, Most};
  }
  void change_count(int by) noexcept {
    count_.store(count() + static_cast<std::uint32_t>(by), base::relaxed);
  }

  base::spin_lock lock_;
  base::atomic<std::uint32_t> count_{0};
  base::handed_over<std::uint32_t> oldest_number_{0};
  base::handed_over<std::uint32_t> newest_number_{0};
  list oldest_;
  list newest_;
  base::handed_over<Item*> first_closed_{nullptr};
  base::handed_over<Item*> last_closed_{nullptr};
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
