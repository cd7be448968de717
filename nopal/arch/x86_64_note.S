// SPDX-License-Identifier: MIT
// The note by which copies of Nopal find one another (sched/copies.h). Each program, and each
// shared library, that Nopal is linked into has one: where the copy's descriptor lies, relative to
// the word that says so. No other copy's note has this one's name, so the symbol is hidden.

#include "nopal/arch/names.h"

    .hidden nopal_copy
    .hidden nopal_note

    .section .note.nopal, "a", @note
    .p2align 2
    .globl nopal_note
    .type nopal_note, @object
nopal_note:
    .long 6 /* the bytes of the name, those of the description, and the type */
    .long 8
    .long 1
    .asciz "nopal"
    .p2align 2
    .quad nopal_copy - .
    .size nopal_note, . - nopal_note

    .section .note.GNU-stack, "", @progbits
