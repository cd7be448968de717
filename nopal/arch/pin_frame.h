// SPDX-License-Identifier: MIT
// How a function that forks must be compiled, in C and C++.
#pragma once

#include "nopal/arch/names.h"
#include "nopal/config.h"

// For a scope's constructor: the compiler then addresses the function's locals through a register
// that survives a change of the stack pointer, also where it realigns the frame for vector
// registers. For Clang a clobber of rsp achieves that; it moves no stack pointer, so warnings are
// off. GCC warns of such a clobber even when it links with -flto, where no pragma is heard, and
// needs other things:
//   never      A call that passes an argument on the stack, in a branch that is never taken. GCC
//              finds that out only after it has decided how to address the locals, and then removes
//              the call.
//   r12        A clobber of one more register. A function that saves only one ends by computing
//              the stack pointer from the frame pointer, which it has just loaded.
//   asm goto   GCC knows that an alloca's address is the stack pointer, and might use one for the
//              other after a fork. It forgets this where two paths meet.
#if !defined(__clang__)
NOPAL_HIDDEN_BEGIN
#if defined(__cplusplus)
extern "C"
#endif
    __attribute__((noreturn, cold, nothrow)) void
    nopal_arch_never(__float80 on_the_stack);
NOPAL_HIDDEN_END
#endif
// clang-format off
#if defined(__clang__)
#define NOPAL_PIN_FRAME                                                                            \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstack-protector\"")       \
  __asm__ volatile("" ::: "rsp");                                                                  \
  _Pragma("clang diagnostic pop")
#define NOPAL_STORE_STACK_POINTER(word) __asm__ volatile("movq %%rsp, %0" : "=m"(word))
#define NOPAL_CHECK_ADDRESS(word) (void)0
#else
#define NOPAL_PIN_FRAME                                                                            \
  if (__builtin_frame_address(0) == 0)                                                             \
    nopal_arch_never(0);                                                                           \
  __asm__ volatile("" ::: "r12");                                                                  \
  __asm__ goto("" : : : : nopal_stack_pointer_changed);                                            \
  __asm__ volatile("");                                                                            \
  nopal_stack_pointer_changed:
// With -maccumulate-outgoing-args GCC still addresses a realigned frame through the stack pointer.
// Then the assembler refuses: no other register has an s followed by a p.
#define NOPAL_REFUSE_STACK_POINTER(operand)                                                        \
  "\n\t.set .Lnopal_s, 0\n\t.irpc c, " operand                                                     \
  "\n\t.ifc \\c, p\n\t.if .Lnopal_s"                                                               \
  "\n\t.error \"nopal: a function with a scope addresses its over-aligned frame through the stack" \
  " pointer; compile it with -mno-accumulate-outgoing-args\""                                      \
  "\n\t.endif\n\t.endif\n\t.set .Lnopal_s, 0"                                                      \
  "\n\t.ifc \\c, s\n\t.set .Lnopal_s, 1\n\t.endif\n\t.endr"
// The stack pointer is an operand, or GCC would move pushes for a later call before this.
#define NOPAL_STORE_STACK_POINTER(word)                                                            \
  {                                                                                                \
    register unsigned long nopal_stack_pointer __asm__("rsp");                                     \
    __asm__ volatile __inline__("movq %1, %0" NOPAL_REFUSE_STACK_POINTER("%0")                     \
                                : "=m"(word) : "r"(nopal_stack_pointer));                          \
  }
#define NOPAL_CHECK_ADDRESS(word)                                                                  \
  __asm__ volatile __inline__(NOPAL_REFUSE_STACK_POINTER("%0") : "=m"(word))
#endif
// clang-format on
