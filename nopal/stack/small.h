// SPDX-License-Identifier: MIT
// The stacks of spawned fibers: a dense range of small slots, beside the large ones of stack.h, so
// that a million fibers fit.
//
//   slot   | guard                  | the stack, growing downwards |
//          low                        bottom                         top
//
// A strand of a fiber that is stolen goes on on a large stack, as ever. The functions of stack.h
// take small stacks too; here is what concerns these alone. They are outside the budget of dead
// pages: while a fiber lives, its stack keeps the pages that it has touched; of those that nobody
// uses, at most `kept_stacks` keep theirs, and the others give them back when they are released.
//
// The guard is as large as the largest frame that forks (stack.h), so that no such frame leaps over
// it, and at least 512 KiB where no limit is on addresses. It is a guard region where the kernel
// has those (Linux 6.13), and takes page tables: a page for each 2 MiB. Elsewhere it is memory
// without access, and each stack takes two of the mappings of vm.max_map_count; so it is, too,
// where memory is locked, and where writable memory is limited even if it is not touched, as a
// guard region is writable memory to the kernel. Without guards slots are as small as stacks, and a
// fiber that needs more than its stack writes into another's.
//
// Thread rules: `open` once, before anything else; all else from any thread.
#pragma once

#include "nopal/config.h"

#include <bit>
#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::stack {

using stack_id = std::uintptr_t; // stack.h

// A range of slots, constant after it was opened. The slot of an address is found without a
// division: a slot has `units` units, which are a power of two of bytes, and a multiplication by
// 2^40 / units, rounded up, divides exactly where there are at most 2^20 slots of 2^10 units.
struct slots {
  std::uintptr_t base = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t each = 0; // bytes of one
  int unit_shift = 0;
  std::uint64_t inverse = 0;

  static constexpr int inverse_shift = 40;

  slots() = default;
  slots(std::uintptr_t at, std::size_t count, std::uintptr_t slot_bytes) noexcept
      : base{at}, bytes{count * slot_bytes}, each{slot_bytes},
        unit_shift{std::countr_zero(slot_bytes)},
        inverse{((std::uint64_t{1} << inverse_shift) + (each >> unit_shift) - 1) /
                (each >> unit_shift)} {}

  bool hold(std::uintptr_t address) const noexcept { return address - base < bytes; }
  std::size_t number_of(std::uintptr_t address) const noexcept {
    return ((address - base) >> unit_shift) * inverse >> inverse_shift;
  }
  std::uintptr_t start(std::size_t number) const noexcept { return base + number * each; }
};

namespace small {

extern slots in_use;

inline constexpr std::size_t most_stacks = std::size_t{1} << 20;
inline constexpr std::uint32_t kept_stacks = 256;

enum class guard : unsigned char { none, region, page };

// Reserves the range, after the large one: as many slots for stacks of so many bytes, a power of
// two, as a limit on addresses leaves room for; perhaps none.
void open(std::size_t stack_bytes, bool guarded) noexcept;

// A stack nobody uses; no_stack: there is no range. Ends the program with a sentence when all are
// in use.
stack_id acquire() noexcept;
// Back to the pool. The caller has left it.
void release(stack_id stack) noexcept;

// An address in the range, or a stack.
inline bool holds(std::uintptr_t address) noexcept { return in_use.hold(address); }
std::uintptr_t bottom(stack_id stack) noexcept; // of a small one
std::size_t size() noexcept;                    // of each
std::size_t capacity() noexcept;
guard guarded_by() noexcept;
std::uint32_t created() noexcept;
// Whether the n-th that was created has its memory by now.
bool is_usable(std::uint32_t n) noexcept;
// ThreadSanitizer's state of a stack (stack.h).
void* fiber_of(stack_id stack) noexcept;

} // namespace small
} // namespace nopal::stack
NOPAL_HIDDEN_END
