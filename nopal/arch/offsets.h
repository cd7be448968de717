// SPDX-License-Identifier: MIT
// The numbers that assembly has of structs. Each is compared with its struct where C++ declares
// that, or else hands it to assembly; so nothing is built where the two differ.
#pragma once

// context: the last are rbx, r12, r13, r14, r15. The flags are frame_flags.
#define NOPAL_AT_RESUME 0
#define NOPAL_AT_STACK_POINTER 8
#define NOPAL_AT_FRAME_POINTER 16
#define NOPAL_AT_PRESERVED 24
#define NOPAL_FRAME_FLAGS 7

#define NOPAL_AT_SCHEDULER_STACK 0 // runner
#define NOPAL_GDB_RANGE_WORDS 3    // gdb_range

// The red zone, and the return address below it (mapped.h).
#define NOPAL_ARCH_AGAIN 136
#define NOPAL_FUTEX_WAKE 1 // of the kernel
