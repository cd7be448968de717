// SPDX-License-Identifier: MIT
//
// Finding the open offers of a stack in the stack itself.
//
// An open offer begins with a word that only it has: its own address inverted. Opening stores
// the word, closing changes it, both at an address known from the stack pointer alone. Who looks
// for offers walks the stack from the oldest frames downwards and compares each word with its own
// address; a stack that runs deep is walked only as far as the first offer, which is the oldest. An
// ordinary word never has that value: as an address it would be the kernel's. (A pointer to a byte
// of itself, say, would not do: dead words of a frame, and references to empty objects, are just
// that.)
//
// The walk reads words that belong to running frames. It compares and forgets them; only what lies
// behind a mark is used.
//
// A thief may claim an offer, from outside, so that its owner cannot close it unnoticed. Claiming
// is a compare-and-swap, so a word that has become something else is left alone. Closing is one
// instruction that reads and writes the word, but not atomically: it can overwrite a claim that it
// has not seen, if both happen at the same time. After the heavy barrier that is over, since the
// barrier finds the instruction done or not begun: a claim that still stands then will be seen.
//
// Orders: M  open (release) pairs with the walk (acquire): what lies behind the mark is complete.
//            Who claims has walked before, and walks again before it uses what it has claimed.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/base/atomic.h"

#include <cstdint>

namespace nopal::stack {

struct marks {
  using mark = base::atomic<std::uintptr_t>;

  // Owner.
  [[gnu::always_inline]] static void open(void* at) noexcept {
    static_cast<mark*>(at)->store(open_mark_of(at), base::release); // M
  }

  // Owner. True: the offer is closed. False: it is closed, but somebody has claimed it before.
  [[gnu::always_inline]] static bool close(void* at) noexcept {
    return arch::subtract_at_once(*static_cast<std::uintptr_t*>(at), open_mark_of(at));
  }

  // Anybody. True: the offer is open, and claimed.
  static bool claim(std::uintptr_t at) noexcept;

  static bool claimed(std::uintptr_t at) noexcept;

  // The highest address in [from, to) of an open offer, or 0; both 8-aligned, in one stack, or the
  // range is empty.
  static std::uintptr_t highest(std::uintptr_t from, std::uintptr_t to) noexcept;

private:
  static constexpr std::uintptr_t kClaim = 2;

  [[gnu::always_inline]] static std::uintptr_t open_mark(std::uintptr_t at) noexcept { return ~at; }
  [[gnu::always_inline]] static std::uintptr_t open_mark_of(void* at) noexcept {
    auto& word = *static_cast<std::uintptr_t*>(at);
    return open_mark(reinterpret_cast<std::uintptr_t>(arch::address_of(word)));
  }
  static bool is_mark(std::uintptr_t at, std::uintptr_t word) noexcept {
    return (word | kClaim) == open_mark(at);
  }
  static std::uintptr_t highest_in(std::uintptr_t from, std::uintptr_t to) noexcept;
};

} // namespace nopal::stack
