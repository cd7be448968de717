// SPDX-License-Identifier: MIT
//
// Context operations for x86-64, System V calling convention.
//
//   context:   0 resume_at   8 rsp   16 rbp, flags   24 rbx   32 r12   40 r13   48 r14   56 r15
//              64 mxcsr   68 x87 control word
//
// The caller of a fork's stub (arch.h) and of nopal_arch_suspend sees an ordinary call, which
// clobbers what calls clobber. Its frame, before and after a thief has taken it over:
//
//      original stack                          thief's stack
//      +---------------------+ <- rbp          +---------------------+ top
//      | locals, the scope   |                 | room for outgoing   |
//      | outgoing arguments  | <- recorded rsp | arguments           | <- rsp given by the thief
//      +---------------------+                 +---------------------+
//      | the child's frames  |                 | later calls         |
//
// rsp and rbp of a context are recorded by the scope's constructor, not here; but by
// nopal_arch_park both.

#define SCHEDULER_STACK 0 /* offset of runner::scheduler_stack */
#define FRAME_FLAGS 3 /* arch::frame_flags */

    .text

    .globl nopal_arch_suspend
    .type nopal_arch_suspend, @function
    .p2align 4
nopal_arch_suspend:
    .cfi_startproc
    movq (%rsp), %rax
    movq %rax, 0(%rdi)
    movq %rbx, 24(%rdi)
    movq %r12, 32(%rdi)
    movq %r13, 40(%rdi)
    movq %r14, 48(%rdi)
    movq %r15, 56(%rdi)
    stmxcsr 64(%rdi)
    fnstcw 68(%rdi)
    movq %rsi, %rdx
    leaq 8(%rsp), %rsi
    movq nopal_self@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    movq SCHEDULER_STACK(%rax), %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *%rdx
    ud2
    .cfi_endproc
    .size nopal_arch_suspend, .-nopal_arch_suspend

    .globl nopal_arch_park
    .type nopal_arch_park, @function
    .p2align 4
nopal_arch_park:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    leaq .Lparked(%rip), %rax
    movq %rax, 0(%rdi)
    movq %rsp, 8(%rdi)
    movq %rsp, 16(%rdi) /* rbp is on the stack: a general register here, it has no bits to spare */
    movq %rbx, 24(%rdi)
    movq %r12, 32(%rdi)
    movq %r13, 40(%rdi)
    movq %r14, 48(%rdi)
    movq %r15, 56(%rdi)
    stmxcsr 64(%rdi)
    fnstcw 68(%rdi)
    movq %rsi, %rdx
    movq %rsp, %rsi
    movq nopal_self@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    .cfi_remember_state
    movq SCHEDULER_STACK(%rax), %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *%rdx
    ud2
.Lparked:
    .cfi_restore_state
    popq %rbp
    .cfi_def_cfa_offset 8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size nopal_arch_park, .-nopal_arch_park

    .globl nopal_arch_resume
    .type nopal_arch_resume, @function
    .p2align 4
nopal_arch_resume:
    .cfi_startproc
    movq %rsi, %rsp
    .cfi_undefined rip
    movq 16(%rdi), %rbp
    andq $~FRAME_FLAGS, %rbp
    movq 24(%rdi), %rbx
    movq 32(%rdi), %r12
    movq 40(%rdi), %r13
    movq 48(%rdi), %r14
    movq 56(%rdi), %r15
    ldmxcsr 64(%rdi)
    fldcw 68(%rdi)
    jmp *0(%rdi)
    .cfi_endproc
    .size nopal_arch_resume, .-nopal_arch_resume

    .globl nopal_arch_leave
    .type nopal_arch_leave, @function
    .p2align 4
nopal_arch_leave:
    .cfi_startproc
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *%rax
    ud2
    .cfi_endproc
    .size nopal_arch_leave, .-nopal_arch_leave

    .globl nopal_arch_call_on
    .type nopal_arch_call_on, @function
    .p2align 4
nopal_arch_call_on:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsp
    call *%rax
    movq %rbp, %rsp
    popq %rbp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size nopal_arch_call_on, .-nopal_arch_call_on

    .section .note.GNU-stack, "", @progbits
