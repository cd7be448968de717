// SPDX-License-Identifier: MIT
// The operations of mapped.h for x86-64, System V calling convention. The kernel takes the fourth
// argument in r10, and clobbers rax, rcx and r11.

#include "nopal/arch/offsets.h"
#include "nopal/arch/x86_64_function.inc"

#include <asm/unistd.h>

    .text
    .p2align 9 /* so that the range crosses no multiple of 4 GiB */
    .globl nopal_arch_calls
    .hidden nopal_arch_calls
nopal_arch_calls:

    function nopal_arch_raw
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %r10
    movq %r9, %r8
    movq 8(%rsp), %r9
    syscall
    ret
    end_function nopal_arch_raw

    function nopal_arch_part
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rcx, %rbx
    movq %r8, %r12
    movq %rsi, %r10
    movq %rsp, %rsi
    movq %rdx, %rsp
    .cfi_undefined rip
    xorl %edx, %edx
    xorl %r8d, %r8d
    movl $__NR_clone, %eax
    syscall
    testq %rax, %rax
    jz .Lparted
    movq %rax, %rdi
    movq %r12, %rsi
    xorl %ebp, %ebp
    call *%rbx
    ud2
.Lparted:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    end_function nopal_arch_part

    function nopal_arch_fork_on
    pushq %rbx
    pushq %r12
    movq %rsp, %rbx
    movq %rdx, %r12
    movq %rsi, %rsp
    .cfi_undefined rip
    xorl %esi, %esi
    xorl %edx, %edx
    xorl %r10d, %r10d
    xorl %r8d, %r8d
    movl $__NR_clone, %eax
    syscall
    pushq %rax
    pushq %rax
    movq %rax, %rdi
    call *%r12
    popq %rax
    movq %rbx, %rsp
    popq %r12
    popq %rbx
    ret
    end_function nopal_arch_fork_on

    function nopal_arch_raw_thread
    movq %rdx, -8(%rsi)
    movq %rcx, -16(%rsi)
    subq $16, %rsi
    xorl %edx, %edx
    xorl %r10d, %r10d
    xorl %r8d, %r8d
    movl $__NR_clone, %eax
    syscall
    testq %rax, %rax
    jz .Lbegun
    ret
.Lbegun:
    .cfi_undefined rip
    xorl %ebp, %ebp
    popq %rdi
    popq %rax
    call *%rax
    ud2
    end_function nopal_arch_raw_thread

    function nopal_arch_end_thread
    .cfi_undefined rip
    movl $0, (%rdi)
    movl $NOPAL_FUTEX_WAKE, %esi
    movl $0x7fffffff, %edx
    movl $__NR_futex, %eax
    syscall
    xorl %edi, %edi
    movl $__NR_exit, %eax
    syscall
    ud2
    end_function nopal_arch_end_thread

    function nopal_arch_again
    syscall
    ret $NOPAL_ARCH_AGAIN - 8
    end_function nopal_arch_again

    .globl nopal_arch_calls_end
    .hidden nopal_arch_calls_end
nopal_arch_calls_end:
    nop

    .section .note.GNU-stack, "", @progbits
