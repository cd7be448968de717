// SPDX-License-Identifier: MIT
//
// One choice per layer, fixed when a program is compiled. The library and everything that includes
// its headers must agree; the inline namespace makes a mismatch fail at link time.
//
//   NOPAL_SERIAL        the serial elision: no library, no threads, same source
//   NOPAL_PRESET=name   one of the presets below; default: nopal
//   NOPAL_CHECKS        our own invariants are asserted (check builds)
//
// Presets. All but the first two are for comparison: they are built from the same parts as the
// systems they are named after.
//
//   name      deque      join       pages     source
//   nopal     stack_map  wait_free  budget
//   split     split      wait_free  budget
//   nowa      chase_lev  wait_free  keep      nowa-ipdps21
//   nowa_the  the        wait_free  keep      the same, figure 9
//   fibril    the        locked     dontneed  fibril-spaa16
//   cilkplus  the        locked     bounded   the same, section 5
//
// What happens to pages can be set otherwise when a program starts (stack_policy in runtime.h).
#pragma once

#if !defined(NOPAL_PRESET)
#define NOPAL_PRESET nopal
#endif

#define NOPAL_PRESET_IS_nopal 1
#define NOPAL_PRESET_IS_split 2
#define NOPAL_PRESET_IS_nowa 3
#define NOPAL_PRESET_IS_nowa_the 4
#define NOPAL_PRESET_IS_fibril 5
#define NOPAL_PRESET_IS_cilkplus 6

#define NOPAL_JOINED_NAME(a, b) a##b
#define NOPAL_JOIN_NAMES(a, b) NOPAL_JOINED_NAME(a, b)
#define NOPAL_PRESET_NUMBER NOPAL_JOIN_NAMES(NOPAL_PRESET_IS_, NOPAL_PRESET)

#if NOPAL_PRESET_NUMBER == 0
#error                                                                                             \
    "NOPAL_PRESET names no preset; accepted are nopal, split, nowa, nowa_the, fibril and cilkplus"
#endif

// The inline namespace of everything that depends on these choices. What is compiled in two ways
// thus has two names: in one program, no linker takes functions or templates of the one kind for
// those of the other, and a file finds only the library of its own kind.
#if defined(NOPAL_CHECKS)
#define NOPAL_ABI_CHECKS checked_
#else
#define NOPAL_ABI_CHECKS
#endif
#if defined(NOPAL_SERIAL)
#define NOPAL_ABI serial
#elif defined(NOPAL_FORKS_RECORD_CONTROL)
#define NOPAL_ABI NOPAL_JOIN_NAMES(bare_, NOPAL_JOIN_NAMES(NOPAL_ABI_CHECKS, NOPAL_PRESET))
#else
#define NOPAL_ABI NOPAL_JOIN_NAMES(preset_, NOPAL_JOIN_NAMES(NOPAL_ABI_CHECKS, NOPAL_PRESET))
#endif

// Which deque.
#define NOPAL_DEQUE_STACK_MAP (NOPAL_PRESET_NUMBER == 1)
#define NOPAL_DEQUE_SPLIT (NOPAL_PRESET_NUMBER == 2)
#define NOPAL_DEQUE_CHASE_LEV (NOPAL_PRESET_NUMBER == 3)
#define NOPAL_DEQUE_THE (NOPAL_PRESET_NUMBER >= 4)

// Offers are public as soon as they are made, so thieves ask for nothing.
#define NOPAL_OFFERS_ARE_PUBLIC (NOPAL_PRESET_NUMBER >= 3)

// A stolen continuation computes with the floating-point control words that it forked with; else
// with its thief's. The build sets it for the one library that tells what that costs.
#if !defined(NOPAL_FORKS_RECORD_CONTROL)
#define NOPAL_FORKS_RECORD_CONTROL (NOPAL_PRESET_NUMBER <= 2)
#endif

#define NOPAL_JOIN_LOCKED (NOPAL_PRESET_NUMBER == 5 || NOPAL_PRESET_NUMBER == 6)

// What happens to unused pages, a value of stack_policy (base/options.h).
#if NOPAL_PRESET_NUMBER <= 2
#define NOPAL_DEFAULT_STACK_POLICY budget
#elif NOPAL_PRESET_NUMBER == 5
#define NOPAL_DEFAULT_STACK_POLICY dontneed
#elif NOPAL_PRESET_NUMBER == 6
#define NOPAL_DEFAULT_STACK_POLICY bounded
#else
#define NOPAL_DEFAULT_STACK_POLICY keep
#endif
