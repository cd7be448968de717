// SPDX-License-Identifier: MIT
// The numbers that forks in C have of structs, in assembly (x86_64_c.S) and in C (nopal/c/fork.h),
// beside those of offsets.h. nopal/c/fork.cc compares each with its struct.
#pragma once

#include "nopal/arch/offsets.h"

#define NOPAL_AT_RESULT 72 // where the result goes, behind join::scope_frame
#define NOPAL_INTO_PLACE 3 // join::fork_kind

// join::fork_record. The mark is stack::marks', and comes first.
#define NOPAL_AT_SCOPE 8
#define NOPAL_AT_FAILED 24
#define NOPAL_RECORD_BYTES 32
#define NOPAL_MARK_DISTANCE (3 - (32 << 20))

// vproc::worker_deque: where its thread's exceptions are, and the word with the limit of the deque
#define NOPAL_AT_EXCEPTIONS 8
#define NOPAL_AT_LIMIT 128
// join::exception_state
#define NOPAL_AT_CAUGHT 0
#define NOPAL_AT_UNCAUGHT 8

// What the two kinds of forks have on the stack, and where the record lies in that.
#define NOPAL_FORK_FRAME 40
#define NOPAL_FORK_FRAME_OF_WORDS 48

// A block: what the slow path keeps of a call (fork.cc, arguments).
#define NOPAL_BLOCK_RESULT 8
#define NOPAL_BLOCK_CLASS 16
#define NOPAL_BLOCK_WORDS 20
#define NOPAL_BLOCK_GENERAL 24
#define NOPAL_BLOCK_STACK 72
#define NOPAL_BLOCK_VECTORS 80
#define NOPAL_BLOCK_BYTES 208
