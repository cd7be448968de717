// SPDX-License-Identifier: MIT
// The interface of Fibril, for C and C++: programs that were written for it compile unchanged.
//
//     fibril int fib(int n) {
//       if (n < 2) return n;
//       fibril_t fr;
//       fibril_init(&fr);
//       int x;
//       fibril_fork(&fr, &x, fib, (n - 1));   // in the paper, and in Fibril until 2016: x
//       int y = fib(n - 2);
//       fibril_join(&fr);
//       return x + y;
//     }
//
// The rules are those of nopal/fork.h: a frame is a local variable, and only the function that
// declares it initialises, forks and joins it. It joins before it returns. nopal/c/fork.h says
// which functions may be children. In C++ a fibril_t is a nopal::scope.
//
// Compiled with FIBRIL_SERIAL, forks are calls, joins do nothing, and the program links no library.
//
// Paper: fibril-spaa16, section 4.1.
#pragma once

#define FIBRIL_SUCCESS 0
#define FIBRIL_FAILURE (-1)

// For fibril_rt_init. As many workers as the environment variable FIBRIL_NPROCS says, or if it is
// not set, as many as there would be without the call; as many as there are CPUs online.
#define FIBRIL_NPROCS 0
#define FIBRIL_NPROCS_ONLN (-1)

// Stands before a function that forks. Nothing is needed there.
#define fibril

// fibril_fork(frame, function, (arguments)), or with the result's variable, or a pointer to it,
// before the function.
#define fibril_fork(...) FIBRIL_5TH(__VA_ARGS__, fibril_fork_wrt, fibril_fork_nrt, , )(__VA_ARGS__)
#define FIBRIL_5TH(a, b, c, d, e, ...) e

#if defined(__cplusplus)
// Where a result goes, given its variable or a pointer to that.
template <class Result> Result& fibril_result(Result& variable) { return variable; }
template <class Result> Result& fibril_result(Result* const& place) { return *place; }
#define FIBRIL_RESULT(result, call) fibril_result<decltype(call)>(result)
#else
#include "nopal/c/fork.h"
#define FIBRIL_RESULT(result, call) (*NOPAL_C_PLACE(__typeof__(call), result))
#endif

#if defined(FIBRIL_SERIAL)

#define fibril_t __attribute__((unused)) int
#define fibril_init(frame) ((void)0)
#define fibril_join(frame) ((void)0)
#define FIBRIL_FRAME(name) ((void)0)
#define fibril_fork_nrt(frame, fn, args) ((fn)args)
#define fibril_fork_wrt(frame, result, fn, args) (FIBRIL_RESULT(result, (fn)args) = (fn)args)
static inline int fibril_rt_init(int number) {
  return number < -1 ? FIBRIL_FAILURE : FIBRIL_SUCCESS;
}
static inline int fibril_rt_exit(void) { return FIBRIL_SUCCESS; }
static inline int fibril_rt_nprocs(void) { return 1; }

#else

#if defined(__cplusplus)

#include "nopal/scope.h"

#include <type_traits>

typedef nopal::scope fibril_t;
// A frame that is joined at the end of its block, also if an exception unwinds the function. So is
// every frame in C++.
#define FIBRIL_FRAME(name) fibril_t name
#define fibril_init(frame) ((void)(frame))
#define fibril_join(frame) ((frame)->join())
#define fibril_fork_nrt(frame, fn, args) (fibril_forks((frame), (fn)) args)
#define fibril_fork_wrt(frame, result, fn, args)                                                   \
  (fibril_forks((frame), (fn), FIBRIL_RESULT(result, (fn)args)) args)

// Converts arguments as a call of the function does.
template <class R, class... P, class... Result>
[[gnu::always_inline]] inline auto fibril_forks(fibril_t* frame, R (*fn)(P...), Result&... to) {
  return [=, &to...](P... given)
             __attribute__((always_inline)) { frame->fork(to..., fn, static_cast<P&&>(given)...); };
}

extern "C" {
#else

#define fibril_init(frame) nopal_c_begin(frame)
#define fibril_join(frame) nopal_c_join(frame)
#define fibril_fork_nrt(frame, fn, args) NOPAL_C_FORK(frame, fn, args)
#define fibril_fork_wrt(frame, result, fn, args) NOPAL_C_FORK_INTO(frame, result, fn, args)
#if defined(NOPAL_CHECKS)
#define fibril_t __attribute__((cleanup(nopal_c_check_joined))) struct nopal_c_frame
#else
typedef struct nopal_c_frame fibril_t;
#endif
// Declares a frame that is joined at the end of its block, also where an exception passes (with
// -fexceptions). To be used where C++ is called: if a child throws, exceptions stop later children.
#define FIBRIL_FRAME(name)                                                                         \
  struct nopal_c_frame name __attribute__((cleanup(nopal_c_end)));                                 \
  nopal_c_begin(&name)
#endif

// Sets the number of workers, before the first fork: at least 1, FIBRIL_NPROCS or
// FIBRIL_NPROCS_ONLN. Need not be called. Returns FIBRIL_SUCCESS; or FIBRIL_FAILURE, and says why
// on standard error, if the number is none of these, or it is too late for another number.
int fibril_rt_init(int number);
// The workers end with the process. Returns FIBRIL_SUCCESS. Where it is compiled with FIBRIL_STATS,
// the environment variables FIBRIL_N_STEALS, _N_SUSPENSIONS, _N_STACKS and _N_PAGES then say what
// they have done.
int fibril_rt_exit(void);
int fibril_rt_exit_with_statistics(void);
#if defined(FIBRIL_STATS)
#define fibril_rt_exit fibril_rt_exit_with_statistics
#endif
// The number of workers, which is fixed from then on.
int fibril_rt_nprocs(void);
#if defined(__cplusplus)
}
#endif
#endif
