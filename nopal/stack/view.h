// SPDX-License-Identifier: MIT
// Views: where workers are processes (base/shared.h), each sees the stacks that its strand's frames
// lie on as one linear stack, at the same addresses as every other worker.
//
// A view is a range of addresses, as large as a stack, in which each process maps what it needs.
// Strands of a stack begin below its `top`, a page's boundary; what is above belongs to its
// `parent`, on which the frame lies that was stolen. A stack's memory is mapped in all processes,
// too, elsewhere: what its strands see at an address, others see `offset(stack)` further. It ends
// at the top, wherever that is, so each use of a stack takes the same pages:
//
//   view of a thief       stack of the victim          stack of the thief
//   +----------------+    +----------------+
//   | frame, stolen  | <- | frame          |
//   | child of the   | <- | child of the   |
//   |  victim, dead  |    |  victim        |
//   +----------------+    |                |    top of +----------------+
//   | thief's frames | <-------------------------------| thief's frames |
//                         +----------------+           +----------------+
//
// A plain stack is one whose strands see it at its memory's addresses, as all stacks are where
// workers are threads. Those of fibers are; and all are in a program that needs it (plain.h).
//
// Invariants
//   V1  Between a running strand's stack pointer and the view's end, its process sees at each
//       address the stack home(leaf(), address).
//   V2  A stack's top and parent do not change from `begin` to the end of its use; so what a frame
//       that has not ended comes from can be read without a lock. The deque hands it to a thief.
//   V3  A page at and above a frame's lowest byte belongs to the frame's stack, the pages below to
//       the one child that runs on that stack, or to the joined main path: so one worker writes
//       each.
//
// Thread rules: `open` once, before use. `show` concerns the calling thread's process, of which no
//               other thread runs strands on a view. All else from any thread.
// Paper: cilk-m-pact10, section 4; without its change of the kernel, section 7.
#pragma once

#include "nopal/config.h"
#include "nopal/stack/bounds.h"
#include "nopal/stack/slots.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::view {

// Where each process maps its view; empty where workers are threads.
struct range {
  std::uintptr_t low = 0;
  std::uintptr_t end = 0;
  std::uintptr_t guard = 0; // bytes below `low` that are never mapped
};
extern range where;
inline bool on() noexcept { return where.end != 0; }
inline bool holds(std::uintptr_t address) noexcept {
  return on() && address - where.low < where.end - where.low;
}
inline bool in_guard(std::uintptr_t address) noexcept {
  return address - (where.low - where.guard) < where.guard;
}

// Views of these stacks, which stay where they are, if workers are processes.
void open(const slot_range& range) noexcept;

// The empty stack is used from now on: below a frame of `parent` whose lowest byte is at
// `frame_low`, or, if that is on no view, from the view's end.
void begin(stack_id stack, std::uintptr_t frame_low, stack_id parent) noexcept;
// As a plain stack; so does `begin` in a program that needs it (plain.h).
void begin_plain(stack_id stack) noexcept;
std::uintptr_t top(stack_id stack) noexcept; // beyond `where`: a plain stack; 0: not begun

// The process shows the stack and what is above it; nothing changes if it is a plain one, or small.
// The caller does not run on a view.
void show(stack_id leaf) noexcept;
// The stack that was shown last; no_stack: none.
stack_id leaf() noexcept;

// The stack that strands of `on` see at this address of a view; no_stack: none.
stack_id home(stack_id on, std::uintptr_t address) noexcept;
// Whether a strand of `on`, whose own frames begin at `lowest`, or one above it has a frame there.
bool shows_frame(stack_id on, std::uintptr_t lowest, std::uintptr_t address) noexcept;

// Room for what a stack's user keeps beside it: it is no part of the stack's memory.
void* owners_room(stack_id stack) noexcept;
stack_id stack_of_owners(const void* in_room) noexcept; // no_stack: it is in no such room

struct counts {
  std::uint64_t shows; // how often a process changed its view
  std::uint64_t maps;  // the system calls that took
};
counts counted() noexcept;

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::stack::view
NOPAL_HIDDEN_END
