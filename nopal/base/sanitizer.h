// SPDX-License-Identifier: MIT
//
// What sanitizers and Valgrind must be told when a thread changes stacks. All calls are no-ops in
// programs that run without these tools; the symbols are weak, so one library serves both.
//
// A `fiber` is ThreadSanitizer's state of one stack: its shadow call stack must stay with the
// frames.
#pragma once

#include <cstddef>
#include <cstdint>

// For functions that do not return to their callers in the ordinary way: ThreadSanitizer would
// count their entries and miss their exits.
#if defined(__clang__)
#define NOPAL_SWITCHES __attribute__((disable_sanitizer_instrumentation))
#elif defined(__SANITIZE_THREAD__)
#define NOPAL_SWITCHES __attribute__((no_sanitize("thread")))
#else
#define NOPAL_SWITCHES
#endif

namespace nopal::base {

// A stack lies in [low, high): tells Valgrind, once per stack.
void announce_stack(std::uintptr_t low, std::uintptr_t high) noexcept;

void* new_fiber() noexcept;  // null when ThreadSanitizer is absent
void* this_fiber() noexcept; // of the running thread; null likewise
void enter_fiber(void* fiber) noexcept;

// The thread is about to continue on the stack [low, high).
void enter_stack(std::uintptr_t low, std::uintptr_t high) noexcept;

// No live frame lies in [low, high): forget what was poisoned there.
void forget_frames(std::uintptr_t low, std::uintptr_t high) noexcept;

} // namespace nopal::base
