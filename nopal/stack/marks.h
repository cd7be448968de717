// SPDX-License-Identifier: MIT
//
// The mark map of a stack: one byte per 64 bytes of stack, at the low end of the stack's own slot.
//
//   slot (64 MiB of addresses, aligned)
//   | marks 1 MiB | no access: the guard ...                      | the stack, growing downwards |
//   low                                                            low + slot - stack size     low
//   + slot
//
// The mark of an address is found by arithmetic on the address alone. That matters: a byte is
// stored at every fork, and a store whose address had to be loaded holds up every later load on
// processors that do not speculate past it (measured: 3 ns a fork; docs/decisions.md).
//
// A mark holds the low byte of the marked address | 1, so that the address can be told from it; 0:
// none. At most one address in 64 bytes may be marked at a time. Orders: M  set (release) pairs
// with the search (acquire): what lies at the marked address is complete.
#pragma once

#include "nopal/base/atomic.h"

#include <cstddef>
#include <cstdint>

namespace nopal::stack {

inline constexpr std::uintptr_t slot_bytes = std::uintptr_t{64} << 20;
inline constexpr unsigned mark_shift = 6;
inline constexpr std::size_t map_bytes = slot_bytes >> mark_shift;

struct marks {
  using mark = base::atomic<std::uint8_t>;

  [[gnu::always_inline]] static void set(std::uintptr_t at) noexcept {
    of(at)->store(static_cast<std::uint8_t>(at | 1), base::release); // M
  }
  [[gnu::always_inline]] static void clear(std::uintptr_t at) noexcept {
    of(at)->store(0, base::relaxed);
  }

  // The highest marked address in [from, to), or 0. Marks are 8-aligned addresses of one slot.
  static std::uintptr_t highest(std::uintptr_t from, std::uintptr_t to) noexcept;

private:
  [[gnu::always_inline]] static mark* of(std::uintptr_t at) noexcept {
    return reinterpret_cast<mark*>((at & ~(slot_bytes - 1)) +
                                   ((at & (slot_bytes - 1)) >> mark_shift));
  }
};

} // namespace nopal::stack
