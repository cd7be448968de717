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
  // No hint: misses no item of a thread that has left `append` or `prepend`.
  bool any() noexcept {
    const base::locked guard{lock_};
    return count() != 0;
  }

  void append(Item* added) noexcept {
    const base::locked guard{lock_};
    newest_.append(added);
    newest_number_ = newest_number_ + 1;
    change_count(1);
    if (newest_number_ == Most)
      closed_.append(close(newest_, newest_number_));
  }
  void prepend(Item* added) noexcept {
    const base::locked guard{lock_};
    if (oldest_number_ == Most)
      closed_.prepend(close(oldest_, oldest_number_));
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
  struct by_batch {
    static auto& link(Item* first) noexcept { return first->before->next; }
  };

  // Returns the batch's first item.
  static Item* close(list& from, base::handed_over<std::uint32_t>& number) noexcept {
    const batch<Item> all = detach(from, number);
    all.first->before = all.last;
    return all.first;
  }
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
    if (Item* const first = closed_.take())
      return {first, first->before, Most};
    return detach(newest_, newest_number_);
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
  linked_queue<Item, by_batch> closed_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
