// SPDX-License-Identifier: MIT
// The operations of arch.h for x86-64, System V calling convention.
//
// For the caller of a fork's stub (arch.h) or of nopal_arch_suspend these are ordinary calls, which
// clobber what calls clobber. The caller's frame, before and after a thief has taken it over:
//
//      original stack                          thief's stack
//      +---------------------+ <- rbp          +---------------------+ top
//      | locals, the scope   |                 | room for outgoing   |
//      | outgoing arguments  | <- recorded rsp | arguments           | <- rsp given by the thief
//      +---------------------+                 +---------------------+
//      | the child's frames  |                 | later calls         |
//
// The scope's constructor records rsp and rbp, except where nopal_arch_park does. Where a context
// is resumed, rdi holds its address (x86_64_c.S).

#include "nopal/arch/offsets.h"

#if defined(NOPAL_SHARED)
#define NOPAL_SHOWN
#endif
#include "nopal/arch/x86_64_function.inc"

    .macro record_registers
    movq %rbx, NOPAL_AT_PRESERVED(%rdi)
    movq %r12, 8+NOPAL_AT_PRESERVED(%rdi)
    movq %r13, 16+NOPAL_AT_PRESERVED(%rdi)
    movq %r14, 24+NOPAL_AT_PRESERVED(%rdi)
    movq %r15, 32+NOPAL_AT_PRESERVED(%rdi)
    .endm

    /* The undefined rip tells debuggers and unwinders that the frame has no caller. */
    .macro call_on_scheduler_stack then
    movq nopal_self@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    movq NOPAL_AT_SCHEDULER_STACK(%rax), %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *\then
    ud2
    .endm

    .text

    function nopal_arch_suspend
    movq (%rsp), %rax
    movq %rax, NOPAL_AT_RESUME(%rdi)
    record_registers
    movq %rsi, %rdx
    leaq 8(%rsp), %rsi
    call_on_scheduler_stack %rdx
    end_function nopal_arch_suspend

    function nopal_arch_park
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    leaq .Lparked(%rip), %rax
    movq %rax, NOPAL_AT_RESUME(%rdi)
    movq %rsp, NOPAL_AT_STACK_POINTER(%rdi)
    /* not rbp, which may hold anything: its low bits would pass for flags */
    movq %rsp, NOPAL_AT_FRAME_POINTER(%rdi)
    record_registers
    movq %rsi, %rdx
    movq %rsp, %rsi
    .cfi_remember_state
    call_on_scheduler_stack %rdx
.Lparked:
    .cfi_restore_state
    popq %rbp
    .cfi_def_cfa_offset 8
    .cfi_restore rbp
    ret
    end_function nopal_arch_park

    /* Saves as nopal_arch_park does, so that either resumes what the other has saved. */
    function nopal_arch_switch
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    leaq .Lparked(%rip), %rax
    movq %rax, NOPAL_AT_RESUME(%rdi)
    movq %rsp, NOPAL_AT_STACK_POINTER(%rdi)
    movq %rsp, NOPAL_AT_FRAME_POINTER(%rdi)
    record_registers
    movq %rsi, %rdi
    movq NOPAL_AT_STACK_POINTER(%rsi), %rsi
    jmp nopal_arch_resume
    end_function nopal_arch_switch

    function nopal_arch_resume
    movq %rsi, %rsp
    .cfi_undefined rip
    movq NOPAL_AT_FRAME_POINTER(%rdi), %rbp
    andq $~NOPAL_FRAME_FLAGS, %rbp
    movq NOPAL_AT_PRESERVED(%rdi), %rbx
    movq 8+NOPAL_AT_PRESERVED(%rdi), %r12
    movq 16+NOPAL_AT_PRESERVED(%rdi), %r13
    movq 24+NOPAL_AT_PRESERVED(%rdi), %r14
    movq 32+NOPAL_AT_PRESERVED(%rdi), %r15
    jmp *NOPAL_AT_RESUME(%rdi)
    end_function nopal_arch_resume

    function nopal_arch_leave
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *%rax
    ud2
    end_function nopal_arch_leave

    function nopal_arch_call_on
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsp
    call *%rax
    leave
    .cfi_def_cfa rsp, 8
    ret
    end_function nopal_arch_call_on

    // Nobody calls it (NOPAL_PIN_FRAME); without optimisation the call is still there.
    function nopal_arch_never
    ud2
    end_function nopal_arch_never

    .section .note.GNU-stack, "", @progbits
