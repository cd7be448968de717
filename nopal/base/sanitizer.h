// SPDX-License-Identifier: MIT
// What sanitizers and Valgrind must be told when a thread changes stacks. Without such a tool the
// calls do nothing: the tools' symbols are weak. So one library serves all programs.
//
// AddressSanitizer keeps the bounds of the running stack and poisons parts of frames; a frame that
// is left for good leaves its poison behind. LeakSanitizer looks for pointers on the stacks that it
// knows. ThreadSanitizer keeps a shadow call stack and a clock for each stack, and calls the two a
// fiber (HACKING.md uses that word for something else). It must see each function begin and end on
// one fiber. So functions that do not return to their callers in the ordinary way are not
// instrumented (NOPAL_SWITCHES), nor are thunks, which call such functions (NOPAL_THUNK).
#pragma once

#include "nopal/base/instrumented.h"
#include "nopal/base/races.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// "split-stack" or "sanitize=safe-stack" if a file of this program was compiled with that option;
// else null. With the first, functions find the limit of their stack in the thread, and may move to
// memory of the thread. With the second, a part of each frame lies on a second stack of the thread.
// Neither follows a strand to another thread.
const char* refused_option() noexcept;

// Tells Valgrind that a stack lies in [low, high). Call it once for each stack.
void announce_stack(std::uintptr_t low, std::uintptr_t high) noexcept;

// ThreadSanitizer's fibers: a new one, that of the running thread, and that of its scheduler; null
// without the tool. Where strands are apart (races.h), the first and the last are a seen_strand.
void* new_fiber() noexcept;
void* this_fiber() noexcept;
void* scheduler_fiber() noexcept;

// ThreadSanitizer keeps a list of calls, to which a function adds when it begins and from which it
// takes when it ends. Frames that have moved here from another process end here without having
// begun. `enter_moved_calls` makes a fiber whose list holds so many calls, changes to it, and
// destroys the fiber `left`, which an earlier call returned, or null. `leave_moved_calls` changes
// to the fiber `to` and destroys `left`. Both do nothing without ThreadSanitizer.
void* enter_moved_calls(void* left, std::size_t calls) noexcept;
void leave_moved_calls(void* left, void* to) noexcept;

// Whether the program runs under AddressSanitizer, LeakSanitizer, ThreadSanitizer or Valgrind.
bool a_tool_watches() noexcept;

struct stack_bounds {
  std::uintptr_t low;
  std::uintptr_t high;
};

// The thread is about to continue on the stack [low, high), as this fiber, which may be null. What
// the thread did before is ordered before what follows. Returns the bounds of the stack that it
// leaves; zeroes without AddressSanitizer.
stack_bounds enter_stack(std::uintptr_t low, std::uintptr_t high, void* fiber) noexcept;

// No live frame lies in [low, high) any more: AddressSanitizer forgets what was poisoned there.
void forget_frames(std::uintptr_t low, std::uintptr_t high) noexcept;

// AddressSanitizer reports each access to the object from now on; `reveal_object` ends that.
// False: there is no such tool, or other objects share the last eight bytes.
bool hide_object(void* at, std::size_t bytes) noexcept;
void reveal_object(void* at, std::size_t bytes) noexcept;

// An exception unwinds frames of this stack: AddressSanitizer forgets what is poisoned on it. The
// throw itself does that only for the stack on which it runs.
void forget_unwound_frames() noexcept;

// Tells Memcheck that the thread will jump back to this stack pointer, and call from there.
void allow_call(std::uintptr_t stack_pointer) noexcept;

// While this object lives, Memcheck lets the thread read whatever frames hold, or held.
class reading_frames {
public:
  reading_frames() noexcept;
  ~reading_frames();
  // The same word of a frame, or address of one. Memcheck may take it for uninitialised, or for as
  // unknown as the words that led to it; it takes the result for known.
  static std::uintptr_t found(std::uintptr_t word) noexcept;
  reading_frames(const reading_frames&) = delete;
  reading_frames& operator=(const reading_frames&) = delete;
};

// LeakSanitizer begins, or ceases, to look for pointers in [low, high). An empty range is ignored.
void add_roots(std::uintptr_t low, std::uintptr_t high) noexcept;
void remove_roots(std::uintptr_t low, std::uintptr_t high) noexcept;

// `begin_use`: the empty stack [low, high) gets its first frame. `end_use`: it is empty again, and
// nothing may point into its frames; AddressSanitizer checks that for the upper 64 KiB.
void begin_use(std::uintptr_t low, std::uintptr_t high) noexcept;
void end_use(std::uintptr_t low, std::uintptr_t high) noexcept;

// What precedes happens_before(key) is ordered before what follows happens_after(key). These are
// the edges between strands, stated even where ThreadSanitizer does not see the library's atomics.
void happens_before(const void* key) noexcept;
void happens_after(const void* key) noexcept;

// ThreadSanitizer forgets the accesses to [low, high), of which nothing is in use, and what ordered
// strands there. Where strands are apart (races.h), their frames lie at the same addresses.
void forget_accesses(std::uintptr_t low, std::uintptr_t high) noexcept;
// The lowest address of [bottom, from) that frames have written to, as far as one can tell: 64 KiB
// below it are zero. All from there on is zero afterwards. Nothing there is in use.
std::uintptr_t clear_used_part(std::uintptr_t bottom, std::uintptr_t from) noexcept;

// Called before a child begins. What came before is ordered before the work of the thread that
// finds the fork's record, and before the continuation.
[[gnu::always_inline]] inline void note_fork([[maybe_unused]] const void* fork_record,
                                             [[maybe_unused]] const void* scope) noexcept {
#if defined(NOPAL_TSAN)
  happens_before(fork_record);
  happens_before(scope);
#endif
}

// Calls a child's body.
template <class Body> NOPAL_CHILD_BODY inline decltype(auto) call_body(Body& body) {
  NOPAL_IF_SEEN(const shown while_it_runs);
  return body();
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
