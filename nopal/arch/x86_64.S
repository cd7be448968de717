// SPDX-License-Identifier: MIT
// The operations of arch.h for x86-64, System V calling convention.
//
//   context:   0 resume_at   8 rsp   16 rbp, flags   24 rbx   32 r12   40 r13   48 r14   56 r15
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

#define SCHEDULER_STACK 0 /* offset of runner::scheduler_stack */
#define FRAME_FLAGS 7 /* arch::frame_flags */

#if defined(NOPAL_SHARED)
#define NOPAL_SHOWN
#endif
#include "nopal/arch/x86_64_function.inc"

    .macro record_registers
    movq %rbx, 24(%rdi)
    movq %r12, 32(%rdi)
    movq %r13, 40(%rdi)
    movq %r14, 48(%rdi)
    movq %r15, 56(%rdi)
    .endm

    /* The undefined rip tells debuggers and unwinders that the frame has no caller. */
    .macro call_on_scheduler_stack then
    movq nopal_self@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    movq SCHEDULER_STACK(%rax), %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *\then
    ud2
    .endm

    .text

    function nopal_arch_suspend
    movq (%rsp), %rax
    movq %rax, 0(%rdi)
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
    movq %rax, 0(%rdi)
    movq %rsp, 8(%rdi)
    movq %rsp, 16(%rdi) /* not rbp, which may hold anything: its low bits would pass for flags */
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
    movq %rax, 0(%rdi)
    movq %rsp, 8(%rdi)
    movq %rsp, 16(%rdi)
    record_registers
    movq %rsi, %rdi
    movq 8(%rsi), %rsi
    jmp nopal_arch_resume
    end_function nopal_arch_switch

    function nopal_arch_resume
    movq %rsi, %rsp
    .cfi_undefined rip
    movq 16(%rdi), %rbp
    andq $~FRAME_FLAGS, %rbp
    movq 24(%rdi), %rbx
    movq 32(%rdi), %r12
    movq 40(%rdi), %r13
    movq 48(%rdi), %r14
    movq 56(%rdi), %r15
    jmp *0(%rdi)
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
