// SPDX-License-Identifier: MIT
//
// The sanitizers' own entry points behind sanitizer.h, and what refused.h finds in the same way.
#include "nopal/base/sanitizer.h"

#include "nopal/base/refused.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) (static_cast<void>(low), high)
#define VALGRIND_MAKE_MEM_DEFINED(at, bytes) (at)
#define VALGRIND_MAKE_MEM_UNDEFINED(at, bytes) (at)
#define VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_ENABLE_ERROR_REPORTING
#endif

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* low,
                                                  std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_low,
                                                   std::size_t* old_bytes);
[[gnu::weak]] extern int __asan_option_detect_stack_use_after_return;
[[gnu::weak]] void __lsan_register_root_region(const void* low, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void* low, std::size_t bytes);
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* low, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* low, std::size_t bytes);
[[gnu::weak]] void __asan_handle_no_return(void);
[[gnu::weak]] void* __tsan_get_current_fiber(void);
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_acquire(void* key);
[[gnu::weak]] void __tsan_release(void* key);
// Linked in for split stacks only, and for safe stacks only.
[[gnu::weak]] void __morestack(void);
[[gnu::weak]] void* __get_unsafe_stack_ptr(void);
}

namespace nopal::base {

bool splits_stacks() noexcept { return __morestack != nullptr; }
bool has_safe_stacks() noexcept { return __get_unsafe_stack_ptr != nullptr; }

void announce_stack(std::uintptr_t low, std::uintptr_t high) noexcept {
  (void)VALGRIND_STACK_REGISTER(low, high);
}

void* new_fiber() noexcept {
  return __tsan_create_fiber != nullptr ? __tsan_create_fiber(0) : nullptr;
}

void* this_fiber() noexcept {
  return __tsan_get_current_fiber != nullptr ? __tsan_get_current_fiber() : nullptr;
}

NOPAL_SWITCHES void enter_fiber(void* fiber) noexcept {
  if (fiber != nullptr && __tsan_switch_to_fiber != nullptr)
    __tsan_switch_to_fiber(fiber, 0);
}

// The pair is called at once, still on the old stack: only the bounds matter, since fake stacks are
// off (below).
stack_bounds enter_stack(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (__sanitizer_start_switch_fiber == nullptr)
    return {0, 0};
  const void* left = nullptr;
  std::size_t bytes = 0;
  __sanitizer_start_switch_fiber(nullptr, reinterpret_cast<const void*>(low), high - low);
  __sanitizer_finish_switch_fiber(nullptr, &left, &bytes);
  const auto from = reinterpret_cast<std::uintptr_t>(left);
  return {from, from + bytes};
}

void forget_frames(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (__asan_unpoison_memory_region != nullptr)
    __asan_unpoison_memory_region(reinterpret_cast<const void*>(low), high - low);
}

void forget_unwound_frames() noexcept {
  if (__asan_handle_no_return != nullptr)
    __asan_handle_no_return();
}

void allow_call(std::uintptr_t stack_pointer) noexcept {
  (void)VALGRIND_MAKE_MEM_DEFINED(stack_pointer - sizeof(void*), sizeof(void*));
}

reading_frames::reading_frames() noexcept { VALGRIND_DISABLE_ERROR_REPORTING; }
reading_frames::~reading_frames() { VALGRIND_ENABLE_ERROR_REPORTING; }

void add_roots(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (__lsan_register_root_region != nullptr && low < high)
    __lsan_register_root_region(reinterpret_cast<const void*>(low), high - low);
}

void remove_roots(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (__lsan_unregister_root_region != nullptr && low < high)
    __lsan_unregister_root_region(reinterpret_cast<const void*>(low), high - low);
}

namespace {

// The upper end of a stack, where most frames were; all of it would take long at each steal.
std::uintptr_t poisoned_above(std::uintptr_t low, std::uintptr_t high) noexcept {
  constexpr std::uintptr_t most = std::uintptr_t{64} << 10;
  return high - low > most ? high - most : low;
}

} // namespace

void begin_use(std::uintptr_t low, std::uintptr_t high) noexcept {
  // Memcheck knows the stack's old depth alone: the next frames may begin below it.
  (void)VALGRIND_MAKE_MEM_UNDEFINED(low, high - low);
  forget_frames(poisoned_above(low, high), high);
  add_roots(low, high);
}

void end_use(std::uintptr_t low, std::uintptr_t high) noexcept {
  remove_roots(low, high);
  const std::uintptr_t from = poisoned_above(low, high);
  if (__asan_poison_memory_region != nullptr)
    __asan_poison_memory_region(reinterpret_cast<const void*>(from), high - from);
}

void happens_before(const void* key) noexcept {
  if (__tsan_release != nullptr)
    __tsan_release(const_cast<void*>(key));
}

void happens_after(const void* key) noexcept {
  if (__tsan_acquire != nullptr)
    __tsan_acquire(const_cast<void*>(key));
}

namespace {

// Stolen frames return on other threads than they began on, which AddressSanitizer's fake frames
// do not allow. Neither its default options (the program may define those) nor its variable's
// default are ours to rely on: instrumented functions read this word at each entry.
[[gnu::constructor(101)]] void keep_frames_on_the_stack() noexcept {
  if (&__asan_option_detect_stack_use_after_return != nullptr)
    __asan_option_detect_stack_use_after_return = 0;
}

} // namespace

} // namespace nopal::base
