// SPDX-License-Identifier: MIT
//
// What sanitizers and Valgrind must be told when a thread changes stacks. All calls are no-ops in
// programs that run without these tools; the symbols are weak, so one library serves both, and a
// program may be sanitized though the library is not.
//
// AddressSanitizer keeps the bounds of the running stack and poisons parts of frames; a frame that
// is left for good leaves its poison behind. LeakSanitizer looks for pointers on stacks it knows.
// ThreadSanitizer keeps a shadow call stack and a clock per stack: its `fiber`. A fiber stays with
// the stack, not with the thread, and a function's entry and its exit must be seen by one fiber.
// Hence functions that do not return to their callers in the ordinary way are not instrumented
// (NOPAL_SWITCHES), nor are thunks, from which such functions are called (NOPAL_THUNK).
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
#define NOPAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOPAL_TSAN 1
#endif
#endif

// AddressSanitizer would also forget all poison of the stack at each call that does not return.
#if defined(__clang__)
#define NOPAL_SWITCHES __attribute__((disable_sanitizer_instrumentation))
#elif defined(__SANITIZE_THREAD__)
#define NOPAL_SWITCHES __attribute__((no_sanitize("thread")))
#elif defined(__SANITIZE_ADDRESS__)
#define NOPAL_SWITCHES __attribute__((no_sanitize("address")))
#else
#define NOPAL_SWITCHES
#endif

// For functions that read or mark other strands' frames.
#if defined(__clang__)
#define NOPAL_READS_FRAMES __attribute__((disable_sanitizer_instrumentation))
#else
#define NOPAL_READS_FRAMES __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

#if defined(NOPAL_TSAN)
#define NOPAL_THUNK NOPAL_SWITCHES
#else
#define NOPAL_THUNK
#endif

namespace nopal::base {

// A stack lies in [low, high): tells Valgrind, once per stack.
void announce_stack(std::uintptr_t low, std::uintptr_t high) noexcept;

void* new_fiber() noexcept;  // null when ThreadSanitizer is absent
void* this_fiber() noexcept; // of the running thread; null likewise
// The thread goes on as this fiber; what it did before is ordered before what follows.
void enter_fiber(void* fiber) noexcept;

struct stack_bounds {
  std::uintptr_t low;
  std::uintptr_t high;
};

// The thread is about to continue on the stack [low, high). Returns the bounds of the one it
// leaves; zeroes when AddressSanitizer is absent.
stack_bounds enter_stack(std::uintptr_t low, std::uintptr_t high) noexcept;

// No live frame lies in [low, high) any more: forget what was poisoned there.
void forget_frames(std::uintptr_t low, std::uintptr_t high) noexcept;

// An exception unwinds frames of this stack: forget what is poisoned on it, as the throw does on
// the stack where it runs.
void forget_unwound_frames() noexcept;

// Memcheck: the thread will come back to this stack pointer by a jump, and call.
void allow_call(std::uintptr_t stack_pointer) noexcept;

// Memcheck: while this lives, the thread may read whatever frames hold, or held.
class reading_frames {
public:
  reading_frames() noexcept;
  ~reading_frames();
  reading_frames(const reading_frames&) = delete;
  reading_frames& operator=(const reading_frames&) = delete;
};

// LeakSanitizer looks for pointers in [low, high) too, or no more. Both 0 < low < high, or no-ops.
void add_roots(std::uintptr_t low, std::uintptr_t high) noexcept;
void remove_roots(std::uintptr_t low, std::uintptr_t high) noexcept;

// The stack [low, high) is empty, and gets its first frame; or it held frames and is empty now:
// nothing may point into it (AddressSanitizer: to its upper 64 KiB).
void begin_use(std::uintptr_t low, std::uintptr_t high) noexcept;
void end_use(std::uintptr_t low, std::uintptr_t high) noexcept;

// What was done before happens_before(key) is ordered before what follows happens_after(key): the
// edges of the computation, also where ThreadSanitizer does not see the library's atomics.
void happens_before(const void* key) noexcept;
void happens_after(const void* key) noexcept;

// A fork's edges, to whoever finds the offer and to the continuation, start before the child.
[[gnu::always_inline]] inline void note_fork([[maybe_unused]] const void* fork_record,
                                             [[maybe_unused]] const void* scope) noexcept {
#if defined(NOPAL_TSAN)
  happens_before(fork_record);
  happens_before(scope);
#endif
}

// Calls a child's body. Where its thunk is not instrumented, the body still must be.
#if defined(NOPAL_TSAN)
template <class Body> [[gnu::noinline]] void call_body(Body& body) { body(); }
#else
template <class Body> [[gnu::always_inline]] inline void call_body(Body& body) { body(); }
#endif

} // namespace nopal::base
