// SPDX-License-Identifier: MIT
// A stack of a few forks, for deques that find their forks by address.
//
// The shipped marks lie in the forks themselves, where a checked atomic has no room. This one
// keeps a mark per place for a fork. Its orders are the shipped ones (stack/marks.h),
// transcribed; all else is the shipped text.
#pragma once

#include "mapped.h"
#include "strand.h"

#include "nopal/config.h"
#include "nopal/stack/stack.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nopal::model {

struct fake_stack {
  static constexpr int depth = 3;
  static constexpr stack::stack_id id = 1;

  // The outermost fork lies highest.
  fork_record places[depth];
  base::atomic<std::uint8_t> marks[depth];

  fake_stack() noexcept {
    current = this;
    base::one_instruction::under_way = 0;
  }

  fork_record& at(int level) noexcept { return places[depth - 1 - level]; }
  std::uintptr_t bottom() const noexcept { return reinterpret_cast<std::uintptr_t>(places); }
  std::uintptr_t top() const noexcept { return reinterpret_cast<std::uintptr_t>(places + depth); }

  // The stack of the execution under way: deques find their stack by static functions.
  static inline fake_stack* current = nullptr;
};

struct fake_bounds {
  static std::size_t most_forks() noexcept { return fake_stack::depth + 1; }
  static std::uintptr_t bottom(stack::stack_id) noexcept { return fake_stack::current->bottom(); }
  static std::uintptr_t lowest_fork(stack::stack_id) noexcept {
    return fake_stack::current->bottom();
  }
  static std::uintptr_t offset(stack::stack_id) noexcept { return 0; }
};

// A deque of bench/baseline, in which every fork is public at once. It maps arrays of frames; if it
// grows, arrays of 1, 2 and 4 frames.
template <class Deque>
concept classic = requires { Deque::steals_under_lock; };
template <class Deque> constexpr bool tells_what_it_takes() noexcept {
  if constexpr (classic<Deque>)
    return Deque::steals_under_lock;
  else
    return false;
}
using deque_memory = mapped_atomics<strand*, 7>;

struct fake_marks {
  static void open(void* record) noexcept {
    mark_of(reinterpret_cast<std::uintptr_t>(record)).store(kOpen, base::release); // M
  }

  // Reads and writes, not atomically; but no heavy barrier comes in between.
  static bool close(void* record) noexcept {
    base::atomic<std::uint8_t>& mark = mark_of(reinterpret_cast<std::uintptr_t>(record));
    const base::one_instruction whole;
    const bool unclaimed = mark.load(base::relaxed) == kOpen;
    mark.store(unclaimed ? kClosed : kClosedLate, base::relaxed);
    return unclaimed;
  }

  static bool claim(std::uintptr_t at, std::uintptr_t = 0) noexcept {
    std::uint8_t found = kOpen;
    return mark_of(at).compare_exchange_strong(found, kClaimed, base::relaxed, base::relaxed) ||
           found == kClaimed;
  }

  static bool claimed(std::uintptr_t at, std::uintptr_t = 0) noexcept {
    return mark_of(at).load(base::relaxed) == kClaimed;
  }

  static std::uintptr_t highest(std::uintptr_t from, std::uintptr_t to,
                                std::uintptr_t = 0) noexcept {
    for (std::uintptr_t at = to; at > from;) {
      at -= sizeof(fork_record);
      const std::uint8_t mark = mark_of(at).load(base::acquire); // M
      if (mark == kOpen || mark == kClaimed)
        return at;
    }
    return 0;
  }

private:
  static constexpr std::uint8_t kClosed = 0;
  static constexpr std::uint8_t kOpen = 1;
  static constexpr std::uint8_t kClosedLate = 2;
  static constexpr std::uint8_t kClaimed = 3;

  static base::atomic<std::uint8_t>& mark_of(std::uintptr_t at) noexcept {
    fake_stack& stack = *fake_stack::current;
    const std::uintptr_t offset = at - stack.bottom();
    check(offset % sizeof(fork_record) == 0 && offset / sizeof(fork_record) < fake_stack::depth,
          "a mark of an address that holds no fork");
    return stack.marks[offset / sizeof(fork_record)];
  }
};

} // namespace nopal::model

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {

// Does what the shipped instruction does.
template <class T> bool stack_below(const base::atomic<T>& word) noexcept {
  return model::fake_stack::current->bottom() < word.load(base::relaxed);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch
