// SPDX-License-Identifier: MIT
// Forks of a function's own frame, in C. Part of nopal.h.
//
//     long fib(int n) {
//       if (n < 2)
//         return n;
//       nopal_scope s;
//       nopal_scope_begin(&s);
//       long x = 0;
//       nopal_fork(&s, &x, fib, (n - 1));    // x = fib(n - 1); or x in the place of &x
//       long y = fib(n - 2);
//       nopal_join(&s);                      // before the function returns
//       return x + y;
//     }
//
// nopal/c/fork.h has the rules, and says which functions may be children. After a fork or a join
// the function may be on another thread: it is called by nopal_affine where that matters.
//
// nopal_fork(scope, f, (arguments)) runs f as a child. nopal_fork(scope, place, f, (arguments)) has
// f's result in the variable, or behind the pointer, after the join. If the strand is cancelled,
// the child is skipped.
#pragma once
#if !defined(__cplusplus)
#pragma GCC system_header // its macros use what ISO C lacks

#include "nopal/c/fork.h"
#include "nopal/config.h"

// A local variable of the function that forks: 80 bytes.
#if defined(NOPAL_CHECKS)
#define nopal_scope __attribute__((cleanup(nopal_c_check_joined))) struct nopal_c_frame
#else
typedef struct nopal_c_frame nopal_scope;
#endif
_Static_assert(sizeof(struct nopal_c_frame) == 80, "a part of NOPAL_ABI_VERSION");

#define nopal_scope_begin(scope) nopal_c_begin(scope)

#define nopal_fork(...) NOPAL_C_5TH(__VA_ARGS__, NOPAL_C_FORK_INTO, NOPAL_C_FORK, , )(__VA_ARGS__)
#define NOPAL_C_5TH(a, b, c, d, e, ...) e

__attribute__((visibility("hidden"))) int nopal_join_result(struct nopal_c_frame* scope);

// Waits for all children. Returns NOPAL_OK; NOPAL_CANCELLED, if the strand is to stop: then results
// may be missing; or NOPAL_EXCEPTION.
NOPAL_C_INLINE int nopal_join(struct nopal_c_frame* scope) {
  NOPAL_IF_CHECKED(scope->result = 0);
  if (__builtin_expect((scope->frame_pointer & NOPAL_FRAME_FLAGS) == 0, 1))
    return 0;
  nopal_c_then* const then = nopal_c_before_join(scope, NOPAL_C_HERE);
  if (then != 0)
    nopal_arch_suspend(scope, then);
  return nopal_join_result(scope);
}

// Called before main, or when a library is opened, since forks check nothing.
__attribute__((constructor, unused)) static void nopal_c_check_version(void) {
  nopal_require_version(NOPAL_ABI_VERSION);
}

#endif
