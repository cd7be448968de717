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
// Slots are aligned, so a mask turns any address in the range into its stack. An address outside of
// the range is not ours: it may lie on the stack that the system gave to a thread.
//
// Spawned fibers begin on small stacks instead (small.h). `is_ours` and all functions below it take
// small stacks too, unless they say otherwise.
//
// Thread rules: `open` once, before anything else; all else from any thread.
// Paper: fibril-spaa16, section 4.2 (stacks), 4.4 (at most D*P*S1 of address space).
#pragma once

#include "nopal/config.h"
#include "nopal/stack/bounds.h"
#include "nopal/stack/retirement.h"
#include "nopal/stack/slots.h"
#include "nopal/stack/small.h"
#include "nopal/stack/view.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack {

// Reserves the range. If the address space has no room for it, the program ends with a message.
// `budget` and `max_stacks` are those of config/options.h.
void open(std::size_t stack_bytes, std::size_t budget, unsigned max_stacks = 0) noexcept;

// Returns a stack that nobody uses, from the pool or new. Without one the program ends with a
// message.
stack_id acquire() noexcept;
// The same for a thief, which must wait if it gets no_stack. It takes any pooled stack, but makes
// no new one if there are `max_stacks`, or, where stacks may run out because addresses are scarce,
// if only the last quarter is left. (A thread that begins a group need not wait: a strand of ours
// may be waiting for that thread.)
stack_id acquire_for_thief() noexcept;
bool may_run_out() noexcept;

// Returns a stack, which the caller has left, to the pool.
void release(stack_id stack) noexcept;

inline constexpr std::size_t most_stacks = 16384; // 1 TiB of addresses
// The large stacks. Each has a number below `most_stacks`, in the order of their creation.
extern slot_range large_ones;
// The most that there can be: fewer than `most_stacks` if addresses or mappings are few.
inline std::size_t capacity() noexcept { return large_ones.capacity; }
inline std::uintptr_t slot_bytes() noexcept { return large_ones.slot_bytes; }

inline bool is_ours(std::uintptr_t address) noexcept {
  return large_ones.hold(address) || small::holds(address) || view::holds(address);
}
// True when the address lies below a stack in its slot: an overflow.
bool in_guard(std::uintptr_t address) noexcept;

inline std::size_t size() noexcept { return large_ones.stack_bytes; } // of a large one
// No function that forks has a larger frame: a thief leaves as much room on its own stack.
inline std::size_t largest_frame() noexcept { return size() / 2; }
inline const slot_range& range_of(stack_id stack) noexcept {
  return small::holds(stack) ? small::in_use : large_ones;
}
// Whether strands of the stack see it on a view.
inline bool is_viewed(stack_id stack) noexcept {
  return view::on() && !small::holds(stack) && view::top(stack) <= view::where.end;
}
// The stack that an address of ours lies on. Of a view it is what the calling thread's process
// shows, or what a strand of the stack `on` sees there (no_stack: the former).
inline stack_id stack_of(std::uintptr_t address, stack_id on = no_stack) noexcept {
  if (view::holds(address)) [[unlikely]]
    return view::home(on != no_stack && is_viewed(on) ? on : view::leaf(), address);
  if (small::holds(address))
    return small::in_use.start(small::in_use.number_of(address));
  return address & ~(large_ones.slot_bytes - 1);
}
// Both addresses lie on the same stack of ours, or both on none.
bool together(std::uintptr_t a, std::uintptr_t b, stack_id on = no_stack) noexcept;

// Where a stack's memory lies, and where its strands see it, which is elsewhere on views (view.h).
inline std::uintptr_t memory_top(stack_id stack) noexcept { return range_of(stack).top(stack); }
inline std::uintptr_t memory_bottom(stack_id stack) noexcept {
  return range_of(stack).bottom(stack);
}
inline std::uintptr_t top(stack_id stack) noexcept {
  return is_viewed(stack) ? view::top(stack) : memory_top(stack);
}
// What all processes see where a strand of the stack `on`, or the calling strand, has this: it may
// be given to other strands.
template <class T> [[gnu::always_inline]] inline T* seen(stack_id on, T* there) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(there);
  if (!view::holds(address)) [[likely]]
    return there;
  return reinterpret_cast<T*>(address + offset(stack_of(address, on)));
}
template <class T> T& seen(T& own) noexcept { return *seen(no_stack, &own); }
// The converse: where the stack's strands, and those below, see what others see there. An object of
// the program may hold its own address, and is used at that address.
template <class T> T* own(T* seen_there) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(seen_there);
  return view::on() && large_ones.hold(address)
             ? reinterpret_cast<T*>(address - offset(stack_of(address)))
             : seen_there;
}

// The highest word of a stack is gdb's (arch/gdb.h). The stack's user has owners_bytes for itself:
// below that word, or, of a stack that may lie in a view, beside the stack. Frames begin below.
inline bool owners_are_beside(stack_id stack) noexcept {
  return view::on() && !small::holds(stack);
}
inline std::uintptr_t frames_top(stack_id stack) noexcept {
  return top(stack) - (owners_are_beside(stack) ? 16 : 16 + owners_bytes);
}
inline void* owners_room(stack_id stack) noexcept {
  if (owners_are_beside(stack)) [[unlikely]]
    return view::owners_room(stack);
  return reinterpret_cast<void*>(memory_top(stack) - sizeof(void*) - owners_bytes);
}
// The stack whose room this is in.
inline stack_id stack_of_owners(const void* in_room) noexcept {
  const stack_id viewed = view::on() ? view::stack_of_owners(in_room) : no_stack;
  return viewed != no_stack ? viewed : stack_of(reinterpret_cast<std::uintptr_t>(in_room));
}

// Leaving a stack and running on it again. The budget bounds the dead pages (retirement.h); for a
// small stack both do nothing.

// Owner. The frame at `from` and everything above it stay; what lies below is dead until the frame
// is resumed. Precondition: no other thread can resume it yet.
void retire(stack_id stack, std::uintptr_t from) noexcept;
// Owner, before it resumes the frame and uses the stack again. False: a reclaimer is giving the
// stack's pages back, and will resume what the handoff names.
bool reuse(stack_id stack, handoff to_do) noexcept;

// Whether idle workers put their empty stack into the pool, for thieves or for the budget.
bool idle_ones_are_pooled() noexcept;
// More dead pages are charged than idle threads should leave.
bool above_watermark() noexcept;
// An idle thread gives back dead pages of a few stacks. True: it must do `to_do` next.
bool reclaim(handoff& to_do) noexcept;
std::uint32_t budget_pages() noexcept; // the largest number where it is unlimited

// What happens to a stack, for tests and tools/census.h. The thread to which the stack belongs
// calls the observer, if there is one. `frames` is where the stack's dead pages end.
enum class event : unsigned char {
  left,      // no strand runs on it from now on
  claimed,   // a reclaimer is about to give its dead pages back
  reclaimed, // and has done so
  reused,    // it is used again
};
extern base::atomic<void (*)(event what, stack_id stack, std::uintptr_t frames)> observer;

void* fiber_of(stack_id stack) noexcept; // slots.h
void set_fiber(stack_id stack, void* fiber) noexcept;

struct usage {
  std::size_t created;          // large stacks that exist; all but the next counts these alone
  std::size_t small_created;    // small stacks that exist
  std::size_t resident_pages;   // pages that have memory now (mincore)
  std::size_t charged_pages;    // an upper bound of the dead pages; unlimited budget: 0
  std::uint64_t pages_returned; // dead pages given back so far; with a budget of 0 an upper bound
  std::uint64_t unmaps;         // system calls that gave pages back
  std::uint64_t counts;         // system calls that counted a stack's dead pages
};
usage measure() noexcept;

// For stack.cc and pages.cc only. `open` calls the first. `reclaim` calls the second when it is
// done with a stack that was taken from the pool meanwhile: that goes back to the pool.
void open_book(std::size_t stacks, std::size_t budget_bytes) noexcept;
void come_back(stack_id stack) noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack
NOPAL_HIDDEN_END
