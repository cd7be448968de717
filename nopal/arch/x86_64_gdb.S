// SPDX-License-Identifier: MIT
// What gdb needs to unwind a stolen frame: where the stacks lie, a function that never runs, and
// the script that uses both (x86_64_gdb.py). gdb finds the script in the program by itself.
//
// If a caller's frame lies below its callee's, gdb reports a corrupt stack, unless a signal's frame
// lies between the two. So the script puts a frame of this function there. The frame keeps the
// stack pointer and most registers, and its caller continues at the address in rcx.

#include "nopal/arch/names.h"
#include "nopal/arch/offsets.h"

    .text
    .type nopal_gdb_trampoline, @function
    .p2align 4
nopal_gdb_trampoline:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa rsp, 0
    .cfi_register rip, rcx
    .irp kept, rbx, rbp, r12, r13, r14, r15
    .cfi_same_value \kept
    .endr
    .irp lost, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    .cfi_undefined \lost
    .endr
    ud2
    .cfi_endproc
    .size nopal_gdb_trampoline, .-nopal_gdb_trampoline

    .data
    .globl nopal_gdb_range /* gdb.h; the word behind it says where the trampoline is */
    .type nopal_gdb_range, @object
    .p2align 3
nopal_gdb_range:
nopal_gdb_words: /* the same for the script, which knows no versions */
    .fill NOPAL_GDB_RANGE_WORDS, 8
    .quad nopal_gdb_trampoline
    .size nopal_gdb_range, .-nopal_gdb_range

    .section .debug_gdb_scripts, "MS", @progbits, 1
    .byte 4 /* a Python script's name, a new line, and its text */
    .ascii "nopal\n"
    .incbin "nopal/arch/x86_64_gdb.py"
    .byte 0

    .section .note.GNU-stack, "", @progbits
