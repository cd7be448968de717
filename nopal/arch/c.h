// SPDX-License-Identifier: MIT
// How a function in C that forks must be compiled, beside what pin_frame.h says: each of its forks
// finds the stack pointer where the others find it. And how it should be compiled.
#pragma once

#include "nopal/arch/pin_frame.h"

// Stands between the last call before a fork and the fork. Without -fexceptions GCC leaves a call's
// arguments on the stack until it pops those of later calls, but not across a place where two paths
// meet.
#if defined(__clang__)
#define NOPAL_POP_ARGUMENTS
#else
// clang-format off
#define NOPAL_POP_ARGUMENTS                                                                        \
  {                                                                                                \
    __label__ nopal_arguments_popped;                                                              \
    __asm__ goto("" : : : : nopal_arguments_popped);                                               \
    __asm__ volatile("");                                                                          \
    nopal_arguments_popped:;                                                                       \
  }
// clang-format on
#endif

// Stands where a frame begins. What lies before, such as the base case of a recursion, then saves
// no registers for what follows: GCC makes that a function of its own (-fpartial-inlining, from -O2
// on), which it does only for code that it takes for seldom run. It does not join the two again,
// since the second seems to have a large frame until calls have been inlined.
#if defined(__clang__) || !defined(__OPTIMIZE__)
#define NOPAL_APART_FROM_BASE_CASE
#else
// clang-format off
#define NOPAL_APART_FROM_BASE_CASE                                                                 \
  {                                                                                                \
    __label__ nopal_frame_begins;                                                                  \
    unsigned long nopal_not_constant;                                                              \
    nopal_frame_begins: __attribute__((cold, unused));                                             \
    __asm__("" : "=r"(nopal_not_constant));                                                        \
    if (__builtin_constant_p(nopal_not_constant)) {                                                \
      unsigned long nopal_large[64];                                                               \
      __asm__ volatile("" : : "r"(nopal_large) : "memory");                                        \
    }                                                                                              \
  }
// clang-format on
#endif
