// SPDX-License-Identifier: MIT
// What the room mapped needs in assembly: system calls that are never trapped, and clones whose
// sides go on on different stacks. All these instructions lie in one small range of addresses,
// which the filter of system calls lets through.
#pragma once

#include "nopal/arch/names.h"
#include "nopal/arch/offsets.h"
#include "nopal/config.h"

#include <cstddef>
#include <type_traits>

NOPAL_HIDDEN_BEGIN
extern "C" {

// The range: a system call is let through if the address behind its instruction lies in it.
extern const char nopal_arch_calls[], nopal_arch_calls_end[];

// A system call. Returns what the kernel returns: an error is negative.
long nopal_arch_raw(long number, long a, long b, long c, long d, long e, long f) noexcept;

// clone(2). The new process returns 0, on the caller's stack. The caller goes on on another stack,
// in body(process, argument), which does not return; `process` is negative if the kernel refuses.
long nopal_arch_part(long flags, void* child_tid, void* stack_top,
                     void (*body)(long process, void* argument), void* argument) noexcept;

// clone(2) without CLONE_VM, on a stack that is private to a process: both sides call both(process)
// there and then return `process`, 0 in the new one.
long nopal_arch_fork_on(long flags, void* stack_top, void (*both)(long process)) noexcept;

// A raw thread of this process, without a control block of its own, which calls body(argument).
long nopal_arch_raw_thread(long flags, void* stack_top, void (*body)(void* argument),
                           void* argument) noexcept;

// Stores 0 into the word, wakes its waiter (futex), and ends the thread, all without a stack.
[[noreturn]] void nopal_arch_end_thread(int* word) noexcept;

// Where a trapped system call is made anew: a return address lies at the stack pointer, and the
// caller's stack pointer is NOPAL_ARCH_AGAIN above it.
void nopal_arch_again();

} // extern "C"

namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {

inline long argument_of_call(const volatile void* value) noexcept {
  return reinterpret_cast<long>(value);
}
inline long argument_of_call(std::nullptr_t) noexcept { return 0; }
template <class Integer>
  requires std::is_integral_v<Integer> || std::is_enum_v<Integer>
long argument_of_call(Integer value) noexcept {
  return static_cast<long>(value);
}

// A system call that is never trapped, of up to six arguments.
template <class... Arguments> long raw(long number, Arguments... arguments) noexcept {
  static_assert(sizeof...(Arguments) <= 6);
  const long all[7]{argument_of_call(arguments)...};
  return nopal_arch_raw(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch
NOPAL_HIDDEN_END
