// SPDX-License-Identifier: MIT
//
// One choice per layer, fixed when a program is compiled. The library and everything that includes
// its headers must agree; the inline namespace makes a mismatch fail at link time.
//
//   NOPAL_SERIAL        the serial elision: no library, no threads, same source
//   NOPAL_DEQUE_SPLIT   deque `split` instead of `stack_map`
//   NOPAL_CHECKS        our own invariants are asserted (check builds)
#pragma once

#if defined(NOPAL_SERIAL)
#define NOPAL_ABI serial
#elif defined(NOPAL_DEQUE_SPLIT)
#define NOPAL_ABI with_split
#else
#define NOPAL_ABI with_stack_map
#endif
