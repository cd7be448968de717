// SPDX-License-Identifier: MIT
// Spawning, suspending and resuming tasks that may go on in another process, at the same address.
//
// All that a task needs to go on lies on its stack, below its frames: a copy of the stack suffices.
//
//      | frames of the task      |
//      | return address          |  <- where it goes on
//      | rbp rbx r12 r13 r14 r15 |
//      | upper end, control words|  <- task_context
//      +-------------------------+
//      | frames of its child     |
//
// Paper: uni-address-hpdc15, Appendix A.
#pragma once

#include "nopal/arch/arch.h"
#include "nopal/config.h"

#include <cstddef>
#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch {

struct task_context {
  std::uint32_t upper;       // where the task's frames end, in the runtime's measure, which sets it
  std::uint16_t vector, x87; // the control words with which the task goes on
  std::uint64_t preserved[6];
  void* resume_at;

  void keep_control_words() noexcept { // the upper half of mxcsr holds nothing
    asm volatile("stmxcsr %c1(%0)\n\tfnstcw %c2(%0)"
                 :
                 : "r"(this), "i"(offsetof(task_context, vector)), "i"(offsetof(task_context, x87))
                 : "memory");
  }
};
// What the stub below and x86_64_uni_address.S push: a return address, six registers, one word.
static_assert(sizeof(task_context) == 64 && offsetof(task_context, resume_at) == 56 &&
              offsetof(task_context, preserved) == 8 &&
              offsetof(task_context, x87) == offsetof(task_context, vector) + 2);

// A spawn's stub is a NOPAL_FORK_STUB whose one statement is NOPAL_PUSH_CALLER_AND_CALL. It pushes
// its caller's context and calls the thunk with a pointer to that as the first argument, where the
// caller has passed null; the other arguments are the caller's. The thunk preserves the registers
// that calls preserve, and lets no exception out.
//
// In check builds these registers are 0 when the thunk begins, so that no value of its caller gets
// into the frames of the child (process/run/isolation.h).
#if defined(NOPAL_CHECKS)
#define NOPAL_EMPTY_REGISTERS                                                                      \
  "xorl %%ebp, %%ebp\n\txorl %%ebx, %%ebx\n\txorl %%r12d, %%r12d\n\txorl %%r13d, %%r13d\n\t"       \
  "xorl %%r14d, %%r14d\n\txorl %%r15d, %%r15d\n\t"
#define NOPAL_REFILL_REGISTERS                                                                     \
  "movq 8(%%rsp), %%r15\n\tmovq 16(%%rsp), %%r14\n\tmovq 24(%%rsp), %%r13\n\t"                     \
  "movq 32(%%rsp), %%r12\n\tmovq 40(%%rsp), %%rbx\n\tmovq 48(%%rsp), %%rbp\n\t"
#else
#define NOPAL_EMPTY_REGISTERS
#define NOPAL_REFILL_REGISTERS
#endif
// With a region for each process (iso-address) a child begins in the region of the process that
// spawns it: below its caller, or at the upper end if its caller lies in another region.
#if NOPAL_PROCESS_REGIONS
#define NOPAL_CALL_ON_OWN_REGION(thunk)                                                            \
  "movq %%rsp, %%rbp\n\tcmpq " NOPAL_TEXT(                                                         \
      nopal_own_region) "(%%rip), %%rsp\n\tjb 1f\n\t"                                              \
                        "cmpq " NOPAL_TEXT(                                                        \
                            nopal_own_region) "+8(%%rip), %%rsp\n\tjbe 2f\n"                       \
                                              "1:\tmovq " NOPAL_TEXT(                              \
                                                  nopal_own_region) "+8(%%rip), %%rsp\n"           \
                                                                    "2:\tcall " thunk              \
                                                                    "\n\tmovq %%rbp, "             \
                                                                    "%%rsp\n\tmovq 48(%%rsp), "    \
                                                                    "%%rbp\n\t"
#else
#define NOPAL_CALL_ON_OWN_REGION(thunk) "call " thunk "\n\t"
#endif
#define NOPAL_PUSH_CALLER_AND_CALL(thunk)                                                          \
  asm volatile("pushq %%rbp\n\tpushq %%rbx\n\tpushq %%r12\n\tpushq %%r13\n\tpushq %%r14\n\t"       \
               "pushq %%r15\n\tsubq $8, %%rsp\n\t.cfi_adjust_cfa_offset 56\n\t"                    \
               ".cfi_rel_offset rbp, 48\n\t.cfi_rel_offset rbx, 40\n\t"                            \
               ".cfi_rel_offset r12, 32\n\t.cfi_rel_offset r13, 24\n\t"                            \
               ".cfi_rel_offset r14, 16\n\t.cfi_rel_offset r15, 8\n\t"                             \
               "movq %%rsp, %%rdi\n\t" NOPAL_EMPTY_REGISTERS NOPAL_CALL_ON_OWN_REGION("%P0")       \
                   NOPAL_REFILL_REGISTERS                                                          \
               "addq $56, %%rsp\n\t"                                                               \
               ".cfi_adjust_cfa_offset -56\n\t.cfi_same_value rbp\n\t.cfi_same_value rbx\n\t"      \
               ".cfi_same_value r12\n\t.cfi_same_value r13\n\t.cfi_same_value r14\n\t"             \
               ".cfi_same_value r15\n\tret"                                                        \
               :                                                                                   \
               : NOPAL_ADDRESS(thunk)                                                              \
               : "memory")

// The thread's word with which functions compiled with -fstack-protector mark their frames.
inline std::uint64_t stack_canary() noexcept {
  std::uint64_t value;
  asm volatile("movq %%fs:40, %0" : "=r"(value));
  return value;
}
// Precondition: neither the caller nor any caller of it returns, since the marks of their frames
// hold the old word.
[[gnu::always_inline]] inline void set_stack_canary(std::uint64_t value) noexcept {
  asm volatile("movq %0, %%fs:40" : : "r"(value) : "memory");
}

extern "C" {
// The lower and the upper end of this process's region. The stubs of iso-address read it.
extern std::uintptr_t nopal_own_region[2];
static_assert(sizeof nopal_own_region == 16); // in x86_64_uni_address.S, too

// Calls f(argument) on the caller's stack, and stores the stack pointer in `entry`. Returns when f
// returns, or when nopal_arch_exit is called with the same `entry`, on whatever stack.
void nopal_arch_enter(std::uintptr_t* entry, void (*f)(void*), void* argument);
[[noreturn]] void nopal_arch_exit(const std::uintptr_t* entry) noexcept;

// Pushes the caller's context, changes to the given stack, and calls then(context, argument), which
// must not return. Returns when the context is resumed.
void nopal_arch_suspend_task(void (*then)(task_context*, void*), void* argument,
                             std::uintptr_t stack_pointer);
[[noreturn]] void nopal_arch_resume_task(task_context* at) noexcept;

// Calls f(argument), which must not return, on the given stack. The registers that calls preserve
// are 0 then.
[[noreturn]] void nopal_arch_begin_task(void (*f)(void*), void* argument,
                                        std::uintptr_t stack_pointer) noexcept;
}

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::arch
NOPAL_HIDDEN_END
