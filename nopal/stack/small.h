// SPDX-License-Identifier: MIT
// The stacks of spawned fibers: a dense range of small slots, beside the large ones of stack.h, so
// that a million fibers fit.
//
//   slot   | guard: a page | the stack, growing downwards |
//          low             bottom                         top
//
// A strand of a fiber that is stolen goes on on a large stack, as ever. The functions of stack.h
// take small stacks too; here is what concerns these alone. They are outside the budget of dead
// pages: while a fiber lives, its stack keeps the pages that it has touched; of those that nobody
// uses, at most `kept_stacks` keep theirs, and the others give them back when they are released.
//
// The guard is a guard region where the kernel has those (Linux 6.13), and costs nothing. Elsewhere
// it is a page without access, and each stack takes two of the mappings of vm.max_map_count.
// Without guards a fiber that needs more than its stack writes into another one's.
//
// Thread rules: `open` once, before anything else; all else from any thread.
#pragma once

#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::stack {

using stack_id = std::uintptr_t; // stack.h

// A range of slots, constant after `open`.
struct slots {
  std::uintptr_t base = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t each = 0; // bytes of one, a power of two

  bool hold(std::uintptr_t address) const noexcept { return address - base < bytes; }
};

namespace small {

extern slots in_use;

inline constexpr std::size_t most_stacks = std::size_t{1} << 20;
inline constexpr std::uint32_t kept_stacks = 256;

enum class guard : unsigned char { none, region, page };

// Reserves the range: as many slots of so many bytes, a power of two, as a limit on virtual memory
// leaves in an eighth of the rest; perhaps none.
void open(std::size_t slot_bytes, bool guarded) noexcept;

// A stack nobody uses; no_stack: there is no range. Ends the program with a sentence when all are
// in use.
stack_id acquire() noexcept;
// Back to the pool. The caller has left it.
void release(stack_id stack) noexcept;

// An address in the range, or a stack.
inline bool holds(std::uintptr_t address) noexcept { return in_use.hold(address); }
inline std::uintptr_t slot_bytes() noexcept { return in_use.each; }
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
