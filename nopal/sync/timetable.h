// SPDX-License-Identifier: MIT
// What is to happen at given times, the earliest first: a heap whose entries know their places, so
// that one can be taken out. An Entry has a member `base::atomic<std::uint32_t> place`, which the
// timetable sets: the entry's place, or `absent`.
//
// Precondition: the caller holds the lock that guards the timetable. `place` is read without it.
// Complexity:   O(log n) for each; children of a place lie together, four of them.
// Orders:       `place` is relaxed: the caller orders what follows a read without the lock.
#pragma once

#include "nopal/base/atomic.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>
#include <vector>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI::sync {

template <class Time, class Entry> class timetable {
public:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  bool empty() const noexcept { return rows_.empty(); }
  Time earliest() const noexcept { return rows_.front().at; } // precondition: it is not empty

  // True: the entry is the earliest now.
  bool add(Time at, Entry* entry) {
    rows_.push_back({at, entry});
    return rise(rows_.size() - 1, {at, entry}) == 0;
  }
  // Precondition: it is there. Its place is this one from now on.
  void remove(Entry* entry, std::uint32_t left = absent) noexcept {
    const std::size_t free = entry->place.load(base::relaxed);
    entry->place.store(left, base::relaxed);
    const row last = rows_.back();
    rows_.pop_back();
    if (free == rows_.size())
      return;
    if (free > 0 && last.at < rows_[above(free)].at)
      rise(free, last);
    else
      sink(free, last);
  }
  Entry* take_earliest(std::uint32_t left = absent) noexcept {
    Entry* const first = rows_.front().entry;
    remove(first, left);
    return first;
  }

private:
  struct row {
    Time at;
    Entry* entry;
  };
  static constexpr std::size_t kBelow = 4;
  static std::size_t above(std::size_t place) noexcept { return (place - 1) / kBelow; }

  void put(std::size_t place, const row& moved) noexcept {
    rows_[place] = moved;
    moved.entry->place.store(static_cast<std::uint32_t>(place), base::relaxed);
  }
  std::size_t rise(std::size_t free, row moved) noexcept {
    for (; free > 0 && moved.at < rows_[above(free)].at; free = above(free))
      put(free, rows_[above(free)]);
    put(free, moved);
    return free;
  }
  void sink(std::size_t free, row moved) noexcept {
    for (;;) {
      const std::size_t first = free * kBelow + 1;
      if (first >= rows_.size())
        break;
      const std::size_t end = rows_.size() - first > kBelow ? first + kBelow : rows_.size();
      std::size_t least = first;
      for (std::size_t i = first + 1; i < end; ++i)
        if (rows_[i].at < rows_[least].at)
          least = i;
      if (!(rows_[least].at < moved.at))
        break;
      put(free, rows_[least]);
      free = least;
    }
    put(free, moved);
  }

  std::vector<row> rows_;
};

} // namespace nopal::inline NOPAL_ABI::sync
NOPAL_HIDDEN_END
