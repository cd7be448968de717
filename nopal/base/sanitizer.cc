// SPDX-License-Identifier: MIT
//
// The sanitizers' own entry points behind sanitizer.h.
#include "nopal/base/sanitizer.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void* low,
                                                  std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_low,
                                                   std::size_t* old_bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* low, std::size_t bytes);
[[gnu::weak]] void* __tsan_get_current_fiber(void);
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

namespace nopal::base {

void announce_stack([[maybe_unused]] std::uintptr_t low,
                    [[maybe_unused]] std::uintptr_t high) noexcept {
#if defined(VALGRIND_STACK_REGISTER)
  (void)VALGRIND_STACK_REGISTER(low, high);
#endif
}

void* new_fiber() noexcept {
  return __tsan_create_fiber != nullptr ? __tsan_create_fiber(0) : nullptr;
}

void* this_fiber() noexcept {
  return __tsan_get_current_fiber != nullptr ? __tsan_get_current_fiber() : nullptr;
}

void enter_fiber(void* fiber) noexcept {
  if (fiber != nullptr && __tsan_switch_to_fiber != nullptr)
    __tsan_switch_to_fiber(fiber, 1); // 1: the switch itself orders nothing; our atomics must
}

// The pair is called at once, still on the old stack: only the bounds matter, since the runtime
// keeps fake stacks off (a fake frame belongs to one thread, a stolen frame does not).
void enter_stack(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (__sanitizer_start_switch_fiber == nullptr)
    return;
  __sanitizer_start_switch_fiber(nullptr, reinterpret_cast<const void*>(low), high - low);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}

void forget_frames(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (__asan_unpoison_memory_region != nullptr)
    __asan_unpoison_memory_region(reinterpret_cast<const void*>(low), high - low);
}

} // namespace nopal::base

// Stolen frames return on other threads than they began on, which AddressSanitizer's fake frames do
// not allow. A program that defines this function itself must ask for the same.
extern "C" [[gnu::weak, gnu::used]] const char* __asan_default_options() {
  return "detect_stack_use_after_return=0";
}
