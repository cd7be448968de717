// SPDX-License-Identifier: MIT
// The entry points of sanitizers and Valgrind behind sanitizer.h.
#include "nopal/base/sanitizer.h"

#include "nopal/base/races.h"

#include <algorithm>
#include <type_traits>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) ((low) + (high))
#define VALGRIND_MAKE_MEM_DEFINED(low, bytes) ((low) + (bytes))
#define VALGRIND_MAKE_MEM_UNDEFINED(low, bytes) ((low) + (bytes))
#define VALGRIND_DISABLE_ERROR_REPORTING
#define VALGRIND_ENABLE_ERROR_REPORTING
#define RUNNING_ON_VALGRIND 0
#endif

extern "C" {
[[gnu::weak]] extern int __asan_option_detect_stack_use_after_return;
[[gnu::weak]] void __asan_handle_no_return();
[[gnu::weak]] void __asan_poison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] int __asan_address_is_poisoned(const volatile void*);
[[gnu::weak]] void __lsan_register_root_region(const void*, std::size_t);
[[gnu::weak]] void __lsan_unregister_root_region(const void*, std::size_t);
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, const void*, std::size_t);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, const void**, std::size_t*);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_func_entry(void* from);
[[gnu::weak]] void __tsan_acquire(void*);
[[gnu::weak]] void __tsan_release(void*);
// Meant for Java's heap: memory is allocated, or freed, there.
[[gnu::weak]] void __tsan_java_alloc(std::uintptr_t at, std::uintptr_t bytes);
[[gnu::weak]] void __tsan_java_free(std::uintptr_t at, std::uintptr_t bytes);
// A program has these only with split stacks, and only with safe stacks.
[[gnu::weak]] void __morestack();
[[gnu::weak]] void* __get_unsafe_stack_ptr();
}

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {
namespace {

// Calls a tool's function. Without the tool the function's address is null, and so is the result.
template <class Result, class... Values>
Result tell(Result (*tool)(Values...), std::type_identity_t<Values>... values) noexcept {
  return tool != nullptr ? tool(values...) : Result();
}

// Calls a tool's function for the memory in [low, high), unless that is empty.
template <class Pointer>
void tell_of(void (*tool)(Pointer, std::size_t), std::uintptr_t low, std::uintptr_t high) noexcept {
  if (low < high)
    tell(tool, reinterpret_cast<Pointer>(low), high - low);
}

// The lower end of what is poisoned of an empty stack: its upper 64 KiB, where most frames were. To
// poison all of it at each steal would take long.
std::uintptr_t poisoned_above(std::uintptr_t low, std::uintptr_t high) noexcept {
  return std::max(low, high - (std::uintptr_t{64} << 10));
}

// Stolen frames return on other threads than they began on, which AddressSanitizer's fake frames
// do not allow. The program may define AddressSanitizer's default options, so Nopal cannot; but
// each instrumented function reads this word when it begins.
[[gnu::constructor(101)]] void keep_frames_on_the_stack() noexcept {
  if (&__asan_option_detect_stack_use_after_return != nullptr)
    __asan_option_detect_stack_use_after_return = 0;
}

} // namespace

const char* refused_option() noexcept {
  if (__morestack != nullptr)
    return "split-stack";
  return __get_unsafe_stack_ptr != nullptr ? "sanitize=safe-stack" : nullptr;
}

bool a_tool_watches() noexcept {
  return __sanitizer_start_switch_fiber != nullptr || __tsan_switch_to_fiber != nullptr ||
         __lsan_register_root_region != nullptr || RUNNING_ON_VALGRIND != 0;
}

void announce_stack(std::uintptr_t low, std::uintptr_t high) noexcept {
  (void)VALGRIND_STACK_REGISTER(low, high);
}

void* new_fiber() noexcept { return strands_apart ? begin_strand() : tell(__tsan_create_fiber, 0); }
void* this_fiber() noexcept { return tell(__tsan_get_current_fiber); }
void* scheduler_fiber() noexcept { return strands_apart ? scheduler_strand() : this_fiber(); }

NOPAL_SWITCHES void* enter_moved_calls(void* left, std::size_t calls) noexcept {
  constexpr std::size_t callers = 16;  // of this function
  constexpr std::size_t most = 50'000; // ThreadSanitizer has room for 65,536
  if (__tsan_create_fiber == nullptr)
    return nullptr;
  void* const entered = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(entered, 0);
  if (left != nullptr)
    __tsan_destroy_fiber(left);
  for (std::size_t i = std::min(callers + calls, most); i != 0; --i)
    tell(__tsan_func_entry, nullptr);
  return entered;
}
NOPAL_SWITCHES void leave_moved_calls(void* left, void* to) noexcept {
  if (left == nullptr)
    return;
  __tsan_switch_to_fiber(to, 0);
  __tsan_destroy_fiber(left);
}

// AddressSanitizer's two functions are called one after the other, still on the old stack. Only the
// bounds matter, since there are no fake frames (above).
NOPAL_SWITCHES stack_bounds enter_stack(std::uintptr_t low, std::uintptr_t high,
                                        void* fiber) noexcept {
  const void* left = nullptr;
  std::size_t bytes = 0;
  if (__sanitizer_start_switch_fiber != nullptr) {
    __sanitizer_start_switch_fiber(nullptr, reinterpret_cast<const void*>(low), high - low);
    __sanitizer_finish_switch_fiber(nullptr, &left, &bytes);
  }
  if (strands_apart)
    go_on_as(static_cast<seen_strand*>(fiber));
  else if (fiber != nullptr)
    __tsan_switch_to_fiber(fiber, 0);
  const auto from = reinterpret_cast<std::uintptr_t>(left);
  return {from, from + bytes};
}

void forget_frames(std::uintptr_t low, std::uintptr_t high) noexcept {
  tell_of(__asan_unpoison_memory_region, low, high);
}

// One byte of AddressSanitizer's shadow stands for eight bytes. If the object shares its last eight
// bytes with other objects, other threads may change that byte of shadow at the same time.
bool hide_object(void* at, std::size_t bytes) noexcept {
  constexpr std::uintptr_t grain = 8;
  const auto low = reinterpret_cast<std::uintptr_t>(at);
  const auto end = reinterpret_cast<const void*>(low + bytes);
  if (__asan_poison_memory_region == nullptr || low % grain != 0 ||
      (bytes % grain != 0 && __asan_address_is_poisoned(end) == 0))
    return false;
  tell(__asan_poison_memory_region, at, (bytes + grain - 1) / grain * grain);
  return true;
}
void reveal_object(void* at, std::size_t bytes) noexcept {
  tell(__asan_unpoison_memory_region, at, bytes);
}

void forget_unwound_frames() noexcept { tell(__asan_handle_no_return); }

void allow_call(std::uintptr_t stack_pointer) noexcept {
  (void)VALGRIND_MAKE_MEM_DEFINED(stack_pointer - sizeof(void*), sizeof(void*));
}

reading_frames::reading_frames() noexcept { VALGRIND_DISABLE_ERROR_REPORTING; }
reading_frames::~reading_frames() { VALGRIND_ENABLE_ERROR_REPORTING; }
std::uintptr_t reading_frames::found(std::uintptr_t word) noexcept {
  (void)VALGRIND_MAKE_MEM_DEFINED(&word, sizeof word);
  return word;
}

void add_roots(std::uintptr_t low, std::uintptr_t high) noexcept {
  tell_of(__lsan_register_root_region, low, high);
}
void remove_roots(std::uintptr_t low, std::uintptr_t high) noexcept {
  tell_of(__lsan_unregister_root_region, low, high);
}

void begin_use(std::uintptr_t low, std::uintptr_t high) noexcept {
  // Memcheck remembers how deep the stack was; the next frames may begin below that.
  (void)VALGRIND_MAKE_MEM_UNDEFINED(low, high - low);
  forget_frames(poisoned_above(low, high), high);
  add_roots(low, high);
}
void end_use(std::uintptr_t low, std::uintptr_t high) noexcept {
  if (strands_apart)
    forget_accesses(clear_used_part(low, high), high);
  remove_roots(low, high);
  tell_of(__asan_poison_memory_region, poisoned_above(low, high), high);
}

void happens_before(const void* key) noexcept {
  if (strands_apart)
    release_for_strand(key);
  else
    tell(__tsan_release, const_cast<void*>(key));
}
void happens_after(const void* key) noexcept {
  if (strands_apart)
    acquire_for_strand(key);
  else
    tell(__tsan_acquire, const_cast<void*>(key));
}

NOPAL_SWITCHES void forget_accesses(std::uintptr_t low, std::uintptr_t high) noexcept {
  low &= ~std::uintptr_t{7};
  high &= ~std::uintptr_t{7};
  if (low >= high)
    return;
  __tsan_java_free(low, high - low); // what ordered strands there
  __tsan_java_alloc(low, high - low);
  __tsan_java_free(low, 8); // that there was an allocation
}

NOPAL_SWITCHES std::uintptr_t clear_used_part(std::uintptr_t bottom, std::uintptr_t from) noexcept {
  constexpr std::uintptr_t unused = std::uintptr_t{64} << 10;
  constexpr std::uintptr_t step = 64;
  from &= ~(step - 1);
  std::uintptr_t lowest = from;
  for (std::uintptr_t at = from; at >= bottom + step && lowest - at < unused;) {
    at -= step;
    const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(at);
    if ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]) !=
        0)
      lowest = at;
  }
  for (std::uintptr_t at = lowest; at != from; at += sizeof(std::uint64_t)) // not memset, whose
    *reinterpret_cast<volatile std::uint64_t*>(at) = 0;                     // frame lies there
  return lowest;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
