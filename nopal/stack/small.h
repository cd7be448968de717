// SPDX-License-Identifier: MIT
// The stacks of spawned fibers: a dense range of small slots, beside the large ones of stack.h, so
// that a million fibers fit.
//
//   slot   | guard                  | the stack, growing downwards |
//          low                        bottom                         top
//
// A strand that is stolen from a fiber goes on on a large stack. The functions of stack.h take
// small stacks too; this header has what concerns small ones alone. The budget of dead pages does
// not count them: while a fiber lives, its stack keeps the pages that it has touched. Of unused
// stacks at most `kept_stacks` keep their pages, besides those that vprocs keep; the others give
// them back when they are released.
//
// The guard is as large as the largest frame that forks (stack.h), so that no such frame leaps over
// it, and at least 512 KiB where no limit is on addresses. Where the kernel has guard regions
// (Linux 6.13), the guard is one; its page tables take a page for each 2 MiB. Otherwise it is
// memory without access, and each stack takes two of the mappings of vm.max_map_count. That is so,
// too, where memory is locked, and where untouched writable memory counts for a limit, since a
// guard region is writable memory to the kernel. Without guards slots are as small as stacks, and a
// fiber that outgrows its stack writes into another's.
//
// Thread rules: `open` once, before anything else; all else from any thread.
#pragma once

#include "nopal/config.h"
#include "nopal/stack/slots.h"

#include <array>
#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::small {

extern slot_range in_use;

inline constexpr std::size_t most_stacks = std::size_t{1} << 20;
inline constexpr std::uint32_t kept_stacks = 256;

enum class guard : unsigned char { none, region, page };

// Reserves the range, after that of large stacks: as many slots as a limit on addresses leaves room
// for, perhaps none. `stack_bytes` is a power of two, `largest_frame` the size of the largest frame
// of a function that forks.
void open(std::size_t stack_bytes, bool guarded, std::size_t largest_frame) noexcept;

// Returns a stack that nobody uses, or no_stack if there is no range. If all are in use, the
// program ends with a message.
stack_id acquire() noexcept;
// Returns a stack, which the caller has left, to the pool.
void release(stack_id stack) noexcept;

// Free stacks that a vproc keeps for its next fibers, so that those which begin and end there write
// nothing that vprocs share. Its thread uses it.
class kept_for_vproc {
public:
  stack_id acquire() noexcept { return number_ != 0 ? stacks_[--number_] : small::acquire(); }
  void release(stack_id stack) noexcept {
    if (number_ == stacks_.size())
      while (number_ > stacks_.size() / 2)
        small::release(stacks_[--number_]);
    stacks_[number_++] = stack;
  }

private:
  std::array<stack_id, 16> stacks_{};
  std::size_t number_ = 0;
};

// An address in the range, or a stack.
inline bool holds(std::uintptr_t address) noexcept { return in_use.hold(address); }
inline std::size_t size() noexcept { return in_use.stack_bytes; }
inline std::size_t capacity() noexcept { return in_use.capacity; }
inline std::uint32_t created() noexcept { return in_use.created(); }
guard guarded_by() noexcept;
// Where workers are processes, each makes a stack's guard for itself before it first runs there.
void guard_here(stack_id stack) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::small
NOPAL_HIDDEN_END
