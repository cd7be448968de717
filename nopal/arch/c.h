// SPDX-License-Identifier: MIT
// How a function in C that forks must be compiled, beside what pin_frame.h says: each of its forks
// finds the stack pointer where the others find it.
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
