// SPDX-License-Identifier: MIT
// The cactus stack's linear stacks: one reserved range of addresses, cut into slots of 64 MiB. The
// stack is the upper end of its slot; nothing below it may be touched, so a frame of any size that
// does not fit faults. Where a limit on addresses (base/limits.h) leaves less than 64 such slots,
// slots are smaller, down to twice the size of a stack, and a frame larger than the rest of its
// slot is not caught; at most half of what is left is taken.
//
//   slot   | no access: the guard ...                       | the stack, growing downwards |
//          low                                              bottom                      top
//
// A stack and its guard are two of the mappings that vm.max_map_count allows; stacks take at most
// half of these.
//
// Because slots are aligned, the stack of any address in the range is found by masking, and whether
// an address is ours at all by comparing it with the range: a foreign thread's stack is not.
//
// Spawned fibers begin on small stacks instead (small.h). `is_ours` and all functions below it take
// these too, less the ones that say so.
//
// Thread rules: `open` once, before anything else; all else from any thread.
// Paper: fibril-spaa16, section 4.2 (stacks), 4.4 (at most D*P*S1 of address space).
#pragma once

#include "nopal/config.h"
#include "nopal/stack/bounds.h"
#include "nopal/stack/retirement.h"
#include "nopal/stack/slots.h"
#include "nopal/stack/small.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::stack {

// Reserves the range. Ends the program with a sentence when the address space has no room. `budget`
// and `max_stacks` are those of config/options.h.
void open(std::size_t stack_bytes, std::size_t budget, unsigned max_stacks = 0) noexcept;

// A stack nobody uses, from the pool or new. Ends the program with a sentence when there is none.
stack_id acquire() noexcept;
// The same for a thief, which gets none while there are as many as there may be: it must wait. That
// is so where `max_stacks` bounds them. It is so, too, where addresses are so scarce that stacks
// may run out; there a thief makes none of the last quarter, but takes any pooled one. (A thread
// that begins a group need not wait: a strand of ours may be waiting for that thread.)
stack_id acquire_for_thief() noexcept;
bool may_run_out() noexcept;

// Back to the pool. The caller has left it.
void release(stack_id stack) noexcept;

inline constexpr std::size_t most_stacks = 16384; // 1 TiB of addresses
// Each, but no small one, has a number below `most_stacks`, in the order in which they were
// created.
extern slot_range large_ones;
// How many there can be at most: fewer where addresses or mappings are few.
inline std::size_t capacity() noexcept { return large_ones.capacity; }
inline std::uintptr_t slot_bytes() noexcept { return large_ones.each; }

inline bool is_ours(std::uintptr_t address) noexcept {
  return large_ones.hold(address) || small::holds(address);
}
// True when the address lies below a stack in its slot: an overflow.
bool in_guard(std::uintptr_t address) noexcept;

inline std::size_t size() noexcept { return large_ones.stack_bytes; } // of a large one
// No function that forks has a larger frame: a thief leaves as much room on its own stack.
inline std::size_t largest_frame() noexcept { return size() / 2; }
inline const slot_range& range_of(std::uintptr_t address) noexcept { // the address must be ours
  return small::holds(address) ? small::in_use : large_ones;
}
inline stack_id stack_of(std::uintptr_t address) noexcept {
  if (small::holds(address))
    return small::in_use.start(small::in_use.number_of(address));
  return address & ~(large_ones.each - 1);
}
// On the same stack of ours, or both on none.
bool together(std::uintptr_t a, std::uintptr_t b) noexcept;
inline std::uintptr_t top(stack_id stack) noexcept { return range_of(stack).top(stack); }

// Room for the caller, near the top of a stack that is in use (arch/gdb.h has the word above). The
// first frame begins this much below the top.
inline constexpr std::uintptr_t top_margin = 96;
inline std::uintptr_t frames_top(stack_id stack) noexcept { return top(stack) - top_margin; }
inline constexpr std::uintptr_t owners_bytes = 80;
inline void* owners_room(stack_id stack) noexcept {
  return reinterpret_cast<void*>(top(stack) - sizeof(void*) - owners_bytes);
}

// Leaving a stack and running on it again. The budget bounds the dead pages (retirement.h); for a
// small stack both do nothing.

// Owner. The frame at `from` and everything above it stay; what lies below is dead until the frame
// is resumed. To be called before any other thread can resume it.
void retire(std::uintptr_t from) noexcept;
// The frame is resumed, and what lies below it is used again. False: a reclaimer is giving the
// stack's pages back, and resumes what the handoff names when it is done.
bool reuse(stack_id stack, handoff to_do) noexcept;

// Whether idle workers keep no stack of their own, so that thieves or the budget have it.
bool idle_ones_are_pooled() noexcept;
// More dead pages are charged than idle threads should leave.
bool above_watermark() noexcept;
// Gives back dead pages of a few stacks. True: the caller must take this handoff now.
bool reclaim(handoff& to_do) noexcept;
std::uint32_t budget_pages() noexcept; // the largest number where it is unlimited

// What happens to a stack, for tests and tools/census.h: the observer is called, if there is one,
// while the stack belongs to the caller. `frames` is where its dead pages end.
enum class event : unsigned char {
  left,      // no strand runs on it from now on
  claimed,   // a reclaimer is about to give its dead pages back
  reclaimed, // and has done so
  reused,    // it is used again
};
extern base::atomic<void (*)(event what, stack_id stack, std::uintptr_t frames)> observer;

// ThreadSanitizer's state of this stack, made when first asked for; null without ThreadSanitizer.
void* fiber_of(stack_id stack) noexcept;

struct usage {
  std::size_t created;          // stacks that exist, less the small ones
  std::size_t small_created;    // of which only these are counted
  std::size_t resident_pages;   // of all of them together, counted now (mincore)
  std::size_t charged_pages;    // dead ones there are at most, unless the budget is unlimited
  std::uint64_t pages_returned; // so far; with a budget of 0 an upper bound
  std::uint64_t unmaps;         // system calls for that
  std::uint64_t counts;         // system calls that counted a stack's dead pages
};
usage measure() noexcept;

// Between stack.cc and pages.cc only: `open` calls the first, `reclaim` the second.
void open_book(std::size_t stacks, std::size_t budget_bytes) noexcept;
void come_back(stack_id stack) noexcept; // to the pool: the reclaimer is done with it

} // namespace nopal::stack
NOPAL_HIDDEN_END
