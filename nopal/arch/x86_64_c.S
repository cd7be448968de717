// SPDX-License-Identifier: MIT
// Forks of C functions, for x86-64, System V calling convention (nopal/c/fork.h).
//
// nopal_c_fork_<class> is called in the place of the child, with the child's own arguments in their
// registers, and in r10, the register of the static chain, the address of the scope: a
// join::scope_frame, and behind it the word that says where the result goes. The caller has written
// that word and the first one, which has the child's address until the fork begins. The class says
// what the child's result is: 0 none, or none that is wanted; an integer or a pointer of 1, 2, 4 or
// 8 bytes; 20 a float; 24 a double. offsets_c.h has the numbers of all words.
//
// The function does what a stub (NOPAL_FORK_STUB) and a thunk (nopal/sched/thunk.h) do together. It
// changes rax, r10 and r11 alone before it calls the child, so no argument is lost. It returns, or
// a thief's jump arrives, behind the call; the registers of results then hold nothing. No exception
// leaves it. Its frame begins with the fork's record, behind which lies where the result goes.
//
// The address in r10 has the kind already (NOPAL_INTO_PLACE). Only complete() writes the word
// behind the record, before the main path can overwrite that behind the scope. So a result is
// stored when it is known whether the fork was ours still; until then it lies in the record's word
// `failed`, which only children that throw need.
//
// nopal_c_fork_words_<class> is called where the child may have arguments on the stack. The caller
// has also written an upper bound of their words, an even number, into the scope's first word for
// registers, and into the next one the stack pointer that all forks and joins of the function have
// (S). Its address has no kind. Its frame is the same, with a copy of the words below it.
//
// The call may have moved the stack pointer by the words that it has pushed, but a thief must find
// S. So the word below S, where a plain call leaves its return address, becomes the address of
// go_on: the thief begins there, moves its stack pointer by as much, and goes behind the call. Both
// numbers are in the word behind the scope by then: the lower 48 bits are the address, the upper 16
// are how far, in units of 16 bytes. The pushed words are the callee's (System V), which has copied
// them.
//
// A block is what the slow path keeps of a call: `arguments` in nopal/c/fork.cc. Its class and its
// words are both 32 bits, of one word.

#define VECTORS 8 /* an upper bound of the vector registers in use, for a child like printf */

#include "nopal/arch/offsets_c.h"
#include "nopal/arch/x86_64_function.inc"

    .macro save_arguments block
    movq %rdi, NOPAL_BLOCK_GENERAL+0(\block)
    movq %rsi, NOPAL_BLOCK_GENERAL+8(\block)
    movq %rdx, NOPAL_BLOCK_GENERAL+16(\block)
    movq %rcx, NOPAL_BLOCK_GENERAL+24(\block)
    movq %r8, NOPAL_BLOCK_GENERAL+32(\block)
    movq %r9, NOPAL_BLOCK_GENERAL+40(\block)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movaps %xmm\n, NOPAL_BLOCK_VECTORS+16*\n(\block)
    .endr
    .endm

    .macro load_arguments block
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movaps NOPAL_BLOCK_VECTORS+16*\n(\block), %xmm\n
    .endr
    movq NOPAL_BLOCK_GENERAL+0(\block), %rdi
    movq NOPAL_BLOCK_GENERAL+8(\block), %rsi
    movq NOPAL_BLOCK_GENERAL+16(\block), %rdx
    movq NOPAL_BLOCK_GENERAL+24(\block), %rcx
    movq NOPAL_BLOCK_GENERAL+32(\block), %r8
    movq NOPAL_BLOCK_GENERAL+40(\block), %r9
    .endm

    /* By the class in the register `class`. */
    .macro store_any_result class, at
    .irp each, 1, 2, 4, 8, 20, 24
    cmpl $\each, \class
    jne 1f
    store_result \each, \at
1:
    .endr
    .endm

    .macro store_result class, at
    .if \class == 1
    movb %al, (\at)
    .elseif \class == 2
    movw %ax, (\at)
    .elseif \class == 4
    movl %eax, (\at)
    .elseif \class == 8
    movq %rax, (\at)
    .elseif \class == 20
    movss %xmm0, (\at)
    .elseif \class == 24
    movsd %xmm0, (\at)
    .endif
    .endm

    .macro record_registers kind
    movq %rbx, NOPAL_AT_PRESERVED-\kind(%r10)
    movq %r12, 8+NOPAL_AT_PRESERVED-\kind(%r10)
    movq %r13, 16+NOPAL_AT_PRESERVED-\kind(%r10)
    movq %r14, 24+NOPAL_AT_PRESERVED-\kind(%r10)
    movq %r15, 32+NOPAL_AT_PRESERVED-\kind(%r10)
    .endm

    /* Where the result goes of a fork that is ours. */
    .macro load_place kind, at, base
    .if \kind != 0
    movq NOPAL_AT_SCOPE+\at(\base), %r10
    movq NOPAL_AT_RESULT-\kind(%r10), %r10
    .else
    movq NOPAL_RECORD_BYTES+\at(\base), %r10
    .endif
    .endm

    /* Opens the fork whose record is at `at` from `base`, or goes to the slow path. */
    .macro open_fork at, base, slow
    movq nopal_self@gottpoff(%rip), %rax
    movq %fs:(%rax), %r10
    movq NOPAL_AT_EXCEPTIONS(%r10), %rax
    cmpq $0, NOPAL_AT_CAUGHT(%rax)
    jne \slow
    cmpl $0, NOPAL_AT_UNCAUGHT(%rax)
    jne \slow
    leaq NOPAL_MARK_DISTANCE+\at(\base), %rax
    movq %rax, \at(\base) /* M of nopal/stack/marks.h, L of nopal/deque/stack_map.h */
    movl $VECTORS, %eax /* no register keeps a mark */
    cmpq NOPAL_AT_LIMIT(%r10), %rsp
    jb \slow
    .endm

    .macro begin_catching name
    .cfi_personality 0x9b, DW.ref.__gxx_personality_v0
    .cfi_lsda 0x1b, .Lcatch_\name
    .endm

    /* Whatever the call at .Lrun throws arrives at .Lthrew. The other calls throw nothing. */
    .macro catch_table name
    .pushsection .gcc_except_table, "a", @progbits
    .p2align 2
.Lcatch_\name:
    .byte 0xff /* landing pads count from the function's beginning */
    .byte 0x9b /* addresses of types */
    .uleb128 .Ltypes_\name - .Lbegin_\name
.Lbegin_\name:
    .byte 0x01 /* the table of calls has uleb128s */
    .uleb128 .Lend_\name - .Lcalls_\name
.Lcalls_\name:
    .uleb128 .Lrun_\name - \name
    .uleb128 .Lran_\name - .Lrun_\name
    .uleb128 .Lthrew_\name - \name
    .uleb128 1
    .uleb128 .Lran_\name - \name
    .uleb128 .Lthrew_\name - .Lran_\name
    .uleb128 0
    .uleb128 0
.Lend_\name:
    .byte 1, 0 /* the first type, and no further action */
    .p2align 2
    .long 0 /* any type */
.Ltypes_\name:
    .popsection
    .endm

    /* The record is at `at` from `base`, the child in r11, the words at rsp. */
    .macro run_child name, class, kind, at, base
    open_fork \at, \base, .Lslow_\name
.Lrun_\name:
    call *%r11
.Lran_\name:
    shrq \at(\base) /* C of nopal/deque/stack_map.h */
    jnc .Lreturned_\name
.Lours_\name:
    .if \class != 0
    load_place \kind, \at, \base
    store_result \class, %r10
    .endif
.Ldone_\name:
    .endm

    .macro slow_paths name, class, kind, at, base
.Lslow_\name:
    leaq \at(\base), %rax
    subq $NOPAL_BLOCK_BYTES, %rsp
    .ifc \base, %rsp
    .cfi_def_cfa_offset NOPAL_FORK_FRAME+8+NOPAL_BLOCK_BYTES
    .endif
    movq %r11, (%rsp)
    load_place \kind, 0, %rax
    movq %r10, NOPAL_BLOCK_RESULT(%rsp)
    leaq NOPAL_BLOCK_BYTES(%rsp), %r10
    movq %r10, NOPAL_BLOCK_STACK(%rsp)
    subq %rax, %r10
    negq %r10
    shlq $32-3, %r10 /* the words, above the class */
    orq $\class, %r10
    movq %r10, NOPAL_BLOCK_CLASS(%rsp)
    movq %rsp, %r10
    call fork_slow
    addq $NOPAL_BLOCK_BYTES, %rsp
    .ifc \base, %rsp
    .cfi_def_cfa_offset NOPAL_FORK_FRAME+8
    .endif
    testl %eax, %eax
    jne .Lrun_\name
    jmp .Ldone_\name
.Lreturned_\name:
    leaq \at(\base), %rdi
    leaq NOPAL_AT_FAILED(%rdi), %r10
    store_result \class, %r10
    movl $\class & 15, %esi /* the result's size */
    call nopal_c_child_returned
    movq NOPAL_AT_FAILED+\at(\base), %rax
    movq %rax, %xmm0
    jmp .Lours_\name
.Lthrew_\name:
    movq %rax, %rdi
    leaq \at(\base), %rsi
    call nopal_c_child_threw
    jmp .Ldone_\name
    .endm

    .macro fork_function name, class
    function \name
    begin_catching \name
    movq NOPAL_AT_RESUME-NOPAL_INTO_PLACE(%r10), %r11
    movq %rsp, NOPAL_AT_RESUME-NOPAL_INTO_PLACE(%r10)
    record_registers NOPAL_INTO_PLACE
    subq $NOPAL_FORK_FRAME, %rsp
    .cfi_def_cfa_offset NOPAL_FORK_FRAME+8
    movq %r10, NOPAL_AT_SCOPE(%rsp)
    run_child \name, \class, NOPAL_INTO_PLACE, 0, %rsp
    addq $NOPAL_FORK_FRAME, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_def_cfa_offset NOPAL_FORK_FRAME+8
    slow_paths \name, \class, NOPAL_INTO_PLACE, 0, %rsp
    end_function \name
    catch_table \name
    .endm

    .macro fork_words_function name, class
    function \name
    begin_catching \name
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    subq $NOPAL_FORK_FRAME_OF_WORDS, %rsp
    movq NOPAL_AT_RESUME(%r10), %r11
    movq %r10, NOPAL_AT_SCOPE-NOPAL_FORK_FRAME_OF_WORDS(%rbp) /* the kind is plain */
    .if \class != 0
    movq NOPAL_AT_RESULT(%r10), %rax
    movq %rax, NOPAL_RECORD_BYTES-NOPAL_FORK_FRAME_OF_WORDS(%rbp)
    .endif
    movl NOPAL_AT_PRESERVED(%r10), %eax
1:  pushq 8(%rbp,%rax,8)
    pushq (%rbp,%rax,8)
    subl $2, %eax
    jne 1b
    movq 8+NOPAL_AT_PRESERVED(%r10), %rax
    subq $8, %rax
    movq %rax, NOPAL_AT_RESUME(%r10)
    subq %rbp, %rax
    subq $8, %rax
    je 2f
    pushq 8(%rbp)
    popq NOPAL_AT_RESULT(%r10)
    shrl $4, %eax
    movw %ax, NOPAL_AT_RESULT+6(%r10)
    movq NOPAL_AT_RESUME(%r10), %rax
    pushq address_of_go_on(%rip)
    popq (%rax)
2:  record_registers 0
    run_child \name, \class, 0, -NOPAL_FORK_FRAME_OF_WORDS, %rbp
    leave
    .cfi_remember_state
    .cfi_def_cfa rsp, 8
    ret
    .cfi_restore_state
    slow_paths \name, \class, 0, -NOPAL_FORK_FRAME_OF_WORDS, %rbp
    end_function \name
    catch_table \name
    .endm

    .text

    fork_function nopal_c_fork_0, 0
    fork_words_function nopal_c_fork_words_0, 0
    fork_function nopal_c_fork_1, 1
    fork_words_function nopal_c_fork_words_1, 1
    fork_function nopal_c_fork_2, 2
    fork_words_function nopal_c_fork_words_2, 2
    fork_function nopal_c_fork_4, 4
    fork_words_function nopal_c_fork_words_4, 4
    fork_function nopal_c_fork_8, 8
    fork_words_function nopal_c_fork_words_8, 8
    fork_function nopal_c_fork_float, 20
    fork_words_function nopal_c_fork_words_float, 20
    fork_function nopal_c_fork_double, 24
    fork_words_function nopal_c_fork_words_double, 24

    /* A thief arrives here (nopal_arch_resume), with the scope in rdi. */
    .type go_on, @function
    .p2align 4
go_on:
    .cfi_startproc
    .cfi_undefined rip
    movzwl NOPAL_AT_RESULT+6(%rdi), %eax
    shll $4, %eax
    subq %rax, %rsp
    movq NOPAL_AT_RESULT(%rdi), %rax
    shlq $16, %rax
    shrq $16, %rax
    jmp *%rax
    end_function go_on

    /* Called with the record in rax, and in r10 a block that lacks the arguments in registers,
       which are as the child gets them. The slow path runs the block if need be. Returns VECTORS if
       the child is still to be run, and then its address in r11 and its arguments; else 0. */
    .type fork_slow, @function
    .p2align 4
fork_slow:
    .cfi_startproc
    pushq %r10
    .cfi_def_cfa_offset 16
    save_arguments %r10
    movq %rax, %rdi
    movq %r10, %rsi
    call nopal_c_fork_slow
    popq %r10
    .cfi_def_cfa_offset 8
    testb %al, %al
    movl $0, %eax
    jne 1f
    load_arguments %r10
    movq (%r10), %r11
    movl $VECTORS, %eax
1:  ret
    end_function fork_slow

    /* Calls the child of the block (rdi) and stores its result. The child may throw. */
    function nopal_c_call
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushq %rbx
    .cfi_offset rbx, -24
    subq $8, %rsp
    movq %rdi, %rbx
    movl NOPAL_BLOCK_WORDS(%rbx), %ecx
    movq NOPAL_BLOCK_STACK(%rbx), %rsi
1:  subl $1, %ecx
    js 2f
    pushq (%rsi,%rcx,8)
    jmp 1b
2:  load_arguments %rbx
    movl $VECTORS, %eax
    call *(%rbx)
    movq NOPAL_BLOCK_RESULT(%rbx), %rcx
    movl NOPAL_BLOCK_CLASS(%rbx), %edx
    store_any_result %edx, %rcx
    movq -8(%rbp), %rbx
    leave
    .cfi_def_cfa rsp, 8
    ret
    end_function nopal_c_call

    .section .data.rel.ro.local, "aw", @progbits
    .p2align 3
address_of_go_on:
    .quad go_on

    .hidden DW.ref.__gxx_personality_v0
    .weak DW.ref.__gxx_personality_v0
    .section .data.rel.local.DW.ref.__gxx_personality_v0, "awG", @progbits, \
      DW.ref.__gxx_personality_v0, comdat
    .p2align 3
    .type DW.ref.__gxx_personality_v0, @object
    .size DW.ref.__gxx_personality_v0, 8
DW.ref.__gxx_personality_v0:
    .quad __gxx_personality_v0

    .section .note.GNU-stack, "", @progbits
