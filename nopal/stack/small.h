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
#include "nopal/stack/slots.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::stack::small {

extern slot_range in_use;

inline constexpr std::size_t most_stacks = std::size_t{1} << 20;
inline constexpr std::uint32_t kept_stacks = 256;

enum class guard : unsigned char { none, region, page };

// Reserves the range, after the large one: as many slots for stacks of so many bytes, a power of
// two, as a limit on addresses leaves room for; perhaps none. No function that forks has a frame
// larger than `largest_frame`.
void open(std::size_t stack_bytes, bool guarded, std::size_t largest_frame) noexcept;

// A stack nobody uses; no_stack: there is no range. Ends the program with a sentence when all are
// in use.
stack_id acquire() noexcept;
// Back to the pool. The caller has left it.
void release(stack_id stack) noexcept;

// An address in the range, or a stack.
inline bool holds(std::uintptr_t address) noexcept { return in_use.hold(address); }
inline std::size_t size() noexcept { return in_use.stack_bytes; }
inline std::size_t capacity() noexcept { return in_use.capacity; }
inline std::uint32_t created() noexcept { return in_use.created(); }
guard guarded_by() noexcept;

} // namespace nopal::stack::small
NOPAL_HIDDEN_END
