// SPDX-License-Identifier: MIT
// The names, in programs and libraries, of what C and assembly share with C++, which no namespace
// can hold. Each ends with the version (config.h), as nopal_self_v0_1 does, so that a process may
// contain several versions. Sources write the name without it. A test reads the libraries that are
// built (tests/repo/symbols.py).
//
// Without a version are what nopal.h and fibril.h declare for users, and the names with which users
// tell the linker what to take from an archive: nopal_mapped_start and nopal_plain_stacks.
#pragma once

#include "nopal/config.h"

#define NOPAL_VERSIONED(name) NOPAL_JOIN_NAMES(name, NOPAL_JOIN_NAMES(_, NOPAL_ABI_OF_ALL_PARTS))

// Functions in assembly.
#define nopal_arch_again NOPAL_VERSIONED(nopal_arch_again)
#define nopal_arch_begin_task NOPAL_VERSIONED(nopal_arch_begin_task)
#define nopal_arch_call_on NOPAL_VERSIONED(nopal_arch_call_on)
#define nopal_arch_calls NOPAL_VERSIONED(nopal_arch_calls)
#define nopal_arch_calls_end NOPAL_VERSIONED(nopal_arch_calls_end)
#define nopal_arch_end_thread NOPAL_VERSIONED(nopal_arch_end_thread)
#define nopal_arch_enter NOPAL_VERSIONED(nopal_arch_enter)
#define nopal_arch_exit NOPAL_VERSIONED(nopal_arch_exit)
#define nopal_arch_fork_on NOPAL_VERSIONED(nopal_arch_fork_on)
#define nopal_arch_leave NOPAL_VERSIONED(nopal_arch_leave)
#define nopal_arch_never NOPAL_VERSIONED(nopal_arch_never)
#define nopal_arch_park NOPAL_VERSIONED(nopal_arch_park)
#define nopal_arch_part NOPAL_VERSIONED(nopal_arch_part)
#define nopal_arch_raw NOPAL_VERSIONED(nopal_arch_raw)
#define nopal_arch_raw_thread NOPAL_VERSIONED(nopal_arch_raw_thread)
#define nopal_arch_resume NOPAL_VERSIONED(nopal_arch_resume)
#define nopal_arch_resume_task NOPAL_VERSIONED(nopal_arch_resume_task)
#define nopal_arch_suspend NOPAL_VERSIONED(nopal_arch_suspend)
#define nopal_arch_suspend_task NOPAL_VERSIONED(nopal_arch_suspend_task)
#define nopal_arch_switch NOPAL_VERSIONED(nopal_arch_switch)

// Data.
#define nopal_copy NOPAL_VERSIONED(nopal_copy)
#define nopal_gdb_range NOPAL_VERSIONED(nopal_gdb_range)
#define nopal_note NOPAL_VERSIONED(nopal_note)
#define nopal_own_region NOPAL_VERSIONED(nopal_own_region)
#define nopal_self NOPAL_VERSIONED(nopal_self)

// Forks in C (nopal/c/fork.h).
#define nopal_c_before_join NOPAL_VERSIONED(nopal_c_before_join)
#define nopal_c_call NOPAL_VERSIONED(nopal_c_call)
#define nopal_c_child_returned NOPAL_VERSIONED(nopal_c_child_returned)
#define nopal_c_child_threw NOPAL_VERSIONED(nopal_c_child_threw)
#define nopal_c_finish_join NOPAL_VERSIONED(nopal_c_finish_join)
#define nopal_c_finish_join_at_end NOPAL_VERSIONED(nopal_c_finish_join_at_end)
#define nopal_c_fork_slow NOPAL_VERSIONED(nopal_c_fork_slow)
#define nopal_c_left_unjoined NOPAL_VERSIONED(nopal_c_left_unjoined)
#define nopal_c_may_fork_slowly NOPAL_VERSIONED(nopal_c_may_fork_slowly)
#define nopal_c_note_fork NOPAL_VERSIONED(nopal_c_note_fork)
#define nopal_join_result NOPAL_VERSIONED(nopal_join_result)
#define nopal_c_fork_0 NOPAL_VERSIONED(nopal_c_fork_0)
#define nopal_c_fork_1 NOPAL_VERSIONED(nopal_c_fork_1)
#define nopal_c_fork_2 NOPAL_VERSIONED(nopal_c_fork_2)
#define nopal_c_fork_4 NOPAL_VERSIONED(nopal_c_fork_4)
#define nopal_c_fork_8 NOPAL_VERSIONED(nopal_c_fork_8)
#define nopal_c_fork_double NOPAL_VERSIONED(nopal_c_fork_double)
#define nopal_c_fork_float NOPAL_VERSIONED(nopal_c_fork_float)
#define nopal_c_fork_words_0 NOPAL_VERSIONED(nopal_c_fork_words_0)
#define nopal_c_fork_words_1 NOPAL_VERSIONED(nopal_c_fork_words_1)
#define nopal_c_fork_words_2 NOPAL_VERSIONED(nopal_c_fork_words_2)
#define nopal_c_fork_words_4 NOPAL_VERSIONED(nopal_c_fork_words_4)
#define nopal_c_fork_words_8 NOPAL_VERSIONED(nopal_c_fork_words_8)
#define nopal_c_fork_words_double NOPAL_VERSIONED(nopal_c_fork_words_double)
#define nopal_c_fork_words_float NOPAL_VERSIONED(nopal_c_fork_words_float)

// Such a name as text, for assembly inside of C++.
#define NOPAL_TEXT_OF(...) #__VA_ARGS__
#define NOPAL_TEXT(name) NOPAL_TEXT_OF(name)
