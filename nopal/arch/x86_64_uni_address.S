// SPDX-License-Identifier: MIT
// The operations of uni_address.h for x86-64, System V calling convention.

#define NOPAL_SHOWN
#include "nopal/arch/x86_64_function.inc"

    .macro push_register register
    pushq %\register
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \register, 0
    .endm

    .macro pop_register register
    popq %\register
    .cfi_adjust_cfa_offset -8
    .cfi_restore \register
    .endm

    /* Pushes a task_context, as NOPAL_PUSH_CALLER_AND_CALL does. */
    .macro push_context
    push_register rbp
    push_register rbx
    push_register r12
    push_register r13
    push_register r14
    push_register r15
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    .endm

    .macro pop_context
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop_register r15
    pop_register r14
    pop_register r13
    pop_register r12
    pop_register rbx
    pop_register rbp
    .endm

    .text

    function nopal_arch_enter
    push_context
    movq %rsp, (%rdi)
    movq %rdx, %rdi
    call *%rsi
.Lleave:
    pop_context
    ret
    end_function nopal_arch_enter

    function nopal_arch_exit
    movq (%rdi), %rsp
    .cfi_undefined rip
    jmp .Lleave
    end_function nopal_arch_exit

    function nopal_arch_suspend_task
    push_context
    movq %rdi, %rax
    movq %rsp, %rdi
    movq %rdx, %rsp
    .cfi_undefined rip
    xorl %ebp, %ebp
    call *%rax
    ud2
    end_function nopal_arch_suspend_task

    function nopal_arch_resume_task
    movq %rdi, %rsp
    .cfi_undefined rip
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    end_function nopal_arch_resume_task

    function nopal_arch_begin_task
    movq %rdx, %rsp
    .cfi_undefined rip
    movq %rdi, %rax
    movq %rsi, %rdi
    xorl %ebp, %ebp
    xorl %ebx, %ebx
    xorl %r12d, %r12d
    xorl %r13d, %r13d
    xorl %r14d, %r14d
    xorl %r15d, %r15d
    call *%rax
    ud2
    end_function nopal_arch_begin_task

    .bss
    .globl nopal_own_region
    .type nopal_own_region, @object
    .size nopal_own_region, 16
    .balign 16
nopal_own_region:
    .zero 16

    .section .note.GNU-stack, "", @progbits
