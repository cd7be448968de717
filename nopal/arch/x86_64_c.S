// SPDX-License-Identifier: MIT
// Forks of C functions, for x86-64, System V calling convention (nopal/c/fork.h).
//
// nopal_c_fork_<class> is called in the place of the child, with the child's own arguments in their
// registers, and in r10, the register of the static chain, the address of the scope:
//
//   scope   0 child, then resume_at   8 rsp   16 rbp, flags   24 rbx   32 r12   40 r13   48 r14
//           56 r15   64 state   72 where the result goes
//
// The caller has written the words 0 and 72. The class says what the child's result is: 0 none, or
// none that is wanted; an integer or a pointer of 1, 2, 4 or 8 bytes; 20 a float; 24 a double.
//
// The function does what a stub (NOPAL_FORK_STUB) and a thunk (nopal/sched/thunk.h) do together. It
// changes rax, r10 and r11 alone before it calls the child, so no argument is lost. It returns, or
// a thief's jump arrives, behind the call; the registers of results then hold nothing. No exception
// leaves it. Its frame:
//
//   rsp     0 mark   8 scope and kind   16 steals_before   24 failed   32 where the result goes
//
// A block of arguments is what memory holds of a call (nopal/c/fork.h, nopal_c_arguments). The
// words on the stack, an even number, end where the block begins:
//
//   block   0 child   8 where the result goes   16 class   20 words on the stack (both 32 bits)
//           24 rdi, rsi, rdx, rcx, r8, r9   80 xmm0 to xmm7
//
// nopal_c_capture is called in the place of a child that needs words on the stack, and
// nopal_c_fork_block then forks it. The second call has the stack pointer of all other forks of the
// function, which the first has not. Its frame:
//
//   rbp     -8 where the result goes   -16 class, words   -48 the record   -256 a block, which only
//           the slow path writes, with the words on the stack below it

#define RESULT 72
#define FRAME_RESULT 32
#define FRAME 40
#define MARK_DISTANCE (3 - (32 << 20)) /* stack::marks::kDistance */
#define SELF_EXCEPTIONS 8 /* vproc::worker_deque */
#define SELF_LIMIT 64
#define UNCAUGHT 8 /* join::exception_state */
#define BLOCK_CLASS 16
#define BLOCK_WORDS 20
#define BLOCK_GENERAL 24
#define BLOCK_VECTORS 80
#define BLOCK 208
#define VECTORS 8 /* an upper bound of the vector registers in use, for a child like printf */

    .macro function name
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro end_function name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .macro save_arguments block
    movq %rdi, BLOCK_GENERAL+0(\block)
    movq %rsi, BLOCK_GENERAL+8(\block)
    movq %rdx, BLOCK_GENERAL+16(\block)
    movq %rcx, BLOCK_GENERAL+24(\block)
    movq %r8, BLOCK_GENERAL+32(\block)
    movq %r9, BLOCK_GENERAL+40(\block)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movaps %xmm\n, BLOCK_VECTORS+16*\n(\block)
    .endr
    .endm

    .macro load_arguments block
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movaps BLOCK_VECTORS+16*\n(\block), %xmm\n
    .endr
    movq BLOCK_GENERAL+0(\block), %rdi
    movq BLOCK_GENERAL+8(\block), %rsi
    movq BLOCK_GENERAL+16(\block), %rdx
    movq BLOCK_GENERAL+24(\block), %rcx
    movq BLOCK_GENERAL+32(\block), %r8
    movq BLOCK_GENERAL+40(\block), %r9
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

    .macro record_caller scope
    movq %rsp, (\scope)
    movq %rbx, 24(\scope)
    movq %r12, 32(\scope)
    movq %r13, 40(\scope)
    movq %r14, 48(\scope)
    movq %r15, 56(\scope)
    .endm

    /* Opens the fork whose record is at `at` from `base`, or goes to the slow path. */
    .macro open_fork at, base, slow
    movq nopal_self@gottpoff(%rip), %rax
    movq %fs:(%rax), %r10
    movq SELF_EXCEPTIONS(%r10), %rax
    cmpq $0, (%rax)
    jne \slow
    cmpl $0, UNCAUGHT(%rax)
    jne \slow
    leaq MARK_DISTANCE+\at(\base), %rax
    movq %rax, \at(\base) /* M of nopal/stack/marks.h, L of nopal/deque/stack_map.h */
    movl $VECTORS, %eax /* no register keeps a mark */
    cmpq SELF_LIMIT(%r10), %rsp
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

    .macro fork_function name, class
    function \name
    begin_catching \name
    movq (%r10), %r11
    record_caller %r10
    pushq RESULT(%r10)
    .cfi_def_cfa_offset 16
    subq $FRAME_RESULT, %rsp
    .cfi_def_cfa_offset FRAME+8
    movq %r10, 8(%rsp) /* the kind is plain */
    open_fork 0, %rsp, .Lslow_\name
.Lrun_\name:
    call *%r11
.Lran_\name:
    .if \class != 0
    movq FRAME_RESULT(%rsp), %r10
    store_result \class, %r10
    .endif
    shrq (%rsp) /* C of nopal/deque/stack_map.h */
    jnc .Lreturned_\name
.Ldone_\name:
    addq $FRAME, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_def_cfa_offset FRAME+8
.Lslow_\name:
    movq FRAME_RESULT(%rsp), %r10
    movq %rsp, %rax
    subq $BLOCK, %rsp
    .cfi_def_cfa_offset FRAME+8+BLOCK
    movq %r11, (%rsp)
    movq %r10, 8(%rsp)
    movq $\class, BLOCK_CLASS(%rsp) /* and no words */
    movq %rsp, %r10
    call fork_slow
    addq $BLOCK, %rsp
    .cfi_def_cfa_offset FRAME+8
    testl %eax, %eax
    jne .Lrun_\name
    jmp .Ldone_\name
.Lreturned_\name:
    movq %rsp, %rdi
    call nopal_c_child_returned
    jmp .Ldone_\name
.Lthrew_\name:
    movq %rax, %rdi
    movq %rsp, %rsi
    call nopal_c_child_threw
    jmp .Ldone_\name
    end_function \name
    catch_table \name
    .endm

    .text

    fork_function nopal_c_fork_0, 0
    fork_function nopal_c_fork_1, 1
    fork_function nopal_c_fork_2, 2
    fork_function nopal_c_fork_4, 4
    fork_function nopal_c_fork_8, 8
    fork_function nopal_c_fork_float, 20
    fork_function nopal_c_fork_double, 24

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

    /* Called in the place of a function, with the function's own arguments, and in r10 a block,
       whose count of words is an upper bound. Writes the arguments to the block. */
    function nopal_c_capture
    save_arguments %r10
    movl BLOCK_WORDS(%r10), %ecx
    leaq 8(%rsp,%rcx,8), %rsi
1:  subq $16, %r10
    movq -8(%rsi), %rax
    movq %rax, 8(%r10)
    movq -16(%rsi), %rax
    movq %rax, (%r10)
    subq $16, %rsi
    subl $2, %ecx
    jne 1b
    ret
    end_function nopal_c_capture

    /* Forks the block in rsi, of the scope in rdi. */
    function nopal_c_fork_block
    begin_catching nopal_c_fork_block
    record_caller %rdi
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushq 8(%rsi)
    pushq BLOCK_CLASS(%rsi)
    movq %rdi, -40(%rbp) /* the kind is plain */
    subq $32+BLOCK, %rsp
    movl BLOCK_WORDS(%rsi), %ecx
    movq %rsi, %r10
1:  pushq -8(%rsi)
    pushq -16(%rsi)
    subq $16, %rsi
    subl $2, %ecx
    jne 1b
    movq (%r10), %r11
    load_arguments %r10
    open_fork -48, %rbp, .Lslow_nopal_c_fork_block
.Lrun_nopal_c_fork_block:
    call *%r11
.Lran_nopal_c_fork_block:
    movl -16(%rbp), %r11d
    testl %r11d, %r11d
    je 2f
    movq -8(%rbp), %r10
    store_any_result %r11d, %r10
2:  shrq -48(%rbp) /* C of nopal/deque/stack_map.h */
    jnc .Lreturned_nopal_c_fork_block
.Ldone_nopal_c_fork_block:
    leave
    .cfi_remember_state
    .cfi_def_cfa rsp, 8
    ret
    .cfi_restore_state
.Lslow_nopal_c_fork_block:
    movq %r11, -256(%rbp)
    movq -8(%rbp), %rax
    movq %rax, 8-256(%rbp)
    movq -16(%rbp), %rax
    movq %rax, BLOCK_CLASS-256(%rbp)
    leaq -48(%rbp), %rax
    leaq -256(%rbp), %r10
    call fork_slow
    testl %eax, %eax
    jne .Lrun_nopal_c_fork_block
    jmp .Ldone_nopal_c_fork_block
.Lreturned_nopal_c_fork_block:
    leaq -48(%rbp), %rdi
    call nopal_c_child_returned
    jmp .Ldone_nopal_c_fork_block
.Lthrew_nopal_c_fork_block:
    movq %rax, %rdi
    leaq -48(%rbp), %rsi
    call nopal_c_child_threw
    jmp .Ldone_nopal_c_fork_block
    end_function nopal_c_fork_block
    catch_table nopal_c_fork_block

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
    movl BLOCK_WORDS(%rbx), %ecx
    movq %rbx, %rsi
1:  subl $2, %ecx
    js 2f
    pushq -8(%rsi)
    pushq -16(%rsi)
    subq $16, %rsi
    jmp 1b
2:  load_arguments %rbx
    movl $VECTORS, %eax
    call *(%rbx)
    movq 8(%rbx), %rcx
    movl BLOCK_CLASS(%rbx), %edx
    store_any_result %edx, %rcx
    movq -8(%rbp), %rbx
    leave
    .cfi_def_cfa rsp, 8
    ret
    end_function nopal_c_call

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
