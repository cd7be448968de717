// SPDX-License-Identifier: MIT
//
// Finding the open offers of a stack in the stack itself.
//
// An open offer begins with a word that only it has: its own address plus a constant. Opening
// stores the word, closing stores zero, both at an address known from the stack pointer alone. Who
// looks for offers walks the stack from the oldest frames downwards and compares each word with its
// own address; a stack that runs deep is walked only as far as the first offer, which is the
// oldest. An ordinary word never has that value: it would be an odd address just beside itself.
//
// The walk reads words that belong to running frames. It compares and forgets them; only what lies
// behind a tag is used.
//
// Orders: M  set (release) pairs with the walk (acquire): what lies behind the tag is complete.
#pragma once

#include "nopal/base/atomic.h"

#include <cstdint>

namespace nopal::stack {

struct marks {
  // Small enough for an address displacement, odd so that the sum is no aligned pointer.
  static constexpr std::uintptr_t distance = 0x4e6f7061;

  using mark = base::atomic<std::uintptr_t>;

  [[gnu::always_inline]] static void set(std::uintptr_t at) noexcept {
    reinterpret_cast<mark*>(at)->store(at + distance, base::release); // M
  }
  [[gnu::always_inline]] static void clear(std::uintptr_t at) noexcept {
    reinterpret_cast<mark*>(at)->store(0, base::relaxed);
  }

  // The highest marked address in [from, to), or 0; both 8-aligned, in one stack.
  static std::uintptr_t highest(std::uintptr_t from, std::uintptr_t to) noexcept;
};

} // namespace nopal::stack
