// SPDX-License-Identifier: MIT
// Nopal for C11, and for languages that call C. C++ programs may use it beside fork.h.
//
//     static int smooth(void* image, size_t row) { ... return 0; }
//     ...
//     int result = nopal_for_index(1, rows - 1, 0, smooth, image);
//     if (result != NOPAL_OK)
//       fprintf(stderr, "%s\n", nopal_message());
//
// In C a function forks in its own frame as nopal/c/scope.h says, which this header includes; C++
// has nopal::scope.
//
// There is no initialisation. Link nopal::c (pkg-config nopal-c), or the shared library
// nopal::c_shared, which shows these functions and no other symbol of Nopal's. It has no forks of a
// function's own frame.
//
// Threads. Each function here that calls yours is affine: it returns on the thread that called it
// (level L2 of affine.h), so errno, thread-local variables and locks of the thread mean the same
// before and after. The functions named ..._migrating cost less, and may return on another thread:
// for recursions that use nothing of their thread. Your functions run on any thread; each stays on
// one, unless it calls what migrates.
//
// Results. Your functions return 0, or another number to fail: what comes serially after that is
// cancelled, and the call returns the number of the serially first function that has failed.
// Positive numbers are yours. Negative ones are those below, and nopal_message() says in a sentence
// what happened. Misuse ends the program with a sentence, as in C++ (docs/limits.md).
//
// Exceptions. A function written in C++ may throw: the call returns NOPAL_EXCEPTION, for C has no
// exceptions, and nopal_rethrow() throws the exception on, where its callers are compiled with
// -fexceptions. No longjmp and no pthread_exit leaves a function that Nopal has called.
#pragma once

#if !defined(__cplusplus) || __cplusplus >= 202002L // of C++, this header is for any
#include "nopal/config.h"
#endif

#include <stddef.h>
#include <stdint.h>

/// The version of what this header and the library agree on. A file that was compiled with another
/// one is refused with a sentence when it first calls.
#define NOPAL_ABI_VERSION 1

#if defined(NOPAL_C_SHARED)
#define NOPAL_C_API __attribute__((visibility("default")))
#else
#define NOPAL_C_API __attribute__((visibility("hidden")))
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/// What the functions below return, beside the positive numbers that yours do.
enum {
  NOPAL_OK = 0,
  NOPAL_CANCELLED = -1,     // the calling strand, or what was called, was cancelled
  NOPAL_EXCEPTION = -2,     // a function written in C++ has thrown an exception
  NOPAL_REFUSED = -3,       // an option has no such name, or its value is not accepted
  NOPAL_TOO_LATE = -4,      // options are decided when the first fork needs them
  NOPAL_BUSY = -5,          // the calling thread runs a strand
  NOPAL_OTHER_VERSION = -6, // the caller was compiled for another version of the library
  NOPAL_NO_MEMORY = -7
};

/// In the first argument of the functions ..._as: the call may return on another thread.
enum { NOPAL_MIGRATING = 1 << 16 };

typedef int (*nopal_function)(void* context);
typedef int (*nopal_index_function)(void* context, size_t index);
typedef int (*nopal_range_function)(void* context, size_t begin, size_t end);

/// The version of the library that is linked: NOPAL_ABI_VERSION of its header.
NOPAL_C_API int nopal_abi_version(void);

/// A sentence about the last call of the calling thread that has returned a negative number.
/// Valid until that thread's next call.
NOPAL_C_API const char* nopal_message(void);

/// Throws the exception for which the calling thread was last returned NOPAL_EXCEPTION. For callers
/// that exceptions may pass.
NOPAL_C_API void nopal_rethrow(void);

// For other languages: the functions below with the version that the caller was compiled for, and
// NOPAL_MIGRATING or not.
NOPAL_C_API int nopal_call_as(int version, nopal_function f, void* context);
NOPAL_C_API int nopal_invoke_as(int version, nopal_function f, void* a, nopal_function g, void* b);
NOPAL_C_API int nopal_for_index_as(int version, size_t begin, size_t end, size_t grain,
                                   nopal_index_function body, void* context);
NOPAL_C_API int nopal_for_range_as(int version, size_t begin, size_t end, size_t grain,
                                   nopal_range_function body, void* context);

/// Calls f, which may fork and migrate, and returns on the calling thread what f does.
/// @par Cost
/// About that of a steal: 0.4 us (Intel, family 6, model 167).
static inline int nopal_affine(nopal_function f, void* context) {
  return nopal_call_as(NOPAL_ABI_VERSION, f, context);
}

/// Calls f(a) and g(b), possibly at the same time.
/// @par Threads
/// Any thread.
/// @par Cost
/// That of a fork; where nothing has forked yet on the thread, that of nopal_affine.
static inline int nopal_invoke(nopal_function f, void* a, nopal_function g, void* b) {
  return nopal_invoke_as(NOPAL_ABI_VERSION, f, a, g, b);
}
/// The same; may return on another thread.
static inline int nopal_invoke_migrating(nopal_function f, void* a, nopal_function g, void* b) {
  return nopal_invoke_as(NOPAL_ABI_VERSION | NOPAL_MIGRATING, f, a, g, b);
}

/// Calls body(context, i) for each i from begin to end - 1, in any order and possibly at the same
/// time. At most `grain` consecutive ones run serially; 0: chosen as by loop.h.
static inline int nopal_for_index(size_t begin, size_t end, size_t grain, nopal_index_function body,
                                  void* context) {
  return nopal_for_index_as(NOPAL_ABI_VERSION, begin, end, grain, body, context);
}
/// The same; may return on another thread.
static inline int nopal_for_index_migrating(size_t begin, size_t end, size_t grain,
                                            nopal_index_function body, void* context) {
  return nopal_for_index_as(NOPAL_ABI_VERSION | NOPAL_MIGRATING, begin, end, grain, body, context);
}

/// The same by pieces: body(context, first, last) for disjoint pieces [first, last) of all.
static inline int nopal_for_range(size_t begin, size_t end, size_t grain, nopal_range_function body,
                                  void* context) {
  return nopal_for_range_as(NOPAL_ABI_VERSION, begin, end, grain, body, context);
}
/// The same; may return on another thread.
static inline int nopal_for_range_migrating(size_t begin, size_t end, size_t grain,
                                            nopal_range_function body, void* context) {
  return nopal_for_range_as(NOPAL_ABI_VERSION | NOPAL_MIGRATING, begin, end, grain, body, context);
}

/// What cancels computations from outside: any thread may call nopal_cancel between open and close.
struct nopal_canceller {
  void* opaque[2];
};
typedef struct nopal_canceller nopal_canceller;

/// Returns NOPAL_OK or NOPAL_NO_MEMORY.
NOPAL_C_API int nopal_canceller_open(nopal_canceller* canceller);
NOPAL_C_API void nopal_canceller_close(nopal_canceller* canceller);
/// Stops what runs by nopal_call_cancelable with this canceller, and what will. Does not wait.
NOPAL_C_API void nopal_cancel(nopal_canceller* canceller);

NOPAL_C_API int nopal_call_cancelable_as(int version, nopal_canceller* canceller,
                                         int64_t timeout_ns, nopal_function f, void* context);
/// Calls f. All that it forks stops when the canceller (null: there is none) is told to cancel, or
/// after so many nanoseconds (negative: never): at its next fork, join or piece of a loop, which
/// return NOPAL_CANCELLED. So does this call, after all have stopped, whatever f returns. Affine.
static inline int nopal_call_cancelable(nopal_canceller* canceller, int64_t timeout_ns,
                                        nopal_function f, void* context) {
  return nopal_call_cancelable_as(NOPAL_ABI_VERSION, canceller, timeout_ns, f, context);
}

/// Whether the calling strand is to stop. For loops that neither fork nor join.
NOPAL_C_API int nopal_is_cancelled(void);

/// Sets an option by its name in config/options.h, such as "num_workers", to a value as its
/// environment variable has it (README.md). Returns NOPAL_OK, NOPAL_REFUSED or NOPAL_TOO_LATE.
/// @pre No C++ code has called nopal::num_workers before the first fork.
/// @par Threads
/// Any thread, before the first fork.
NOPAL_C_API int nopal_set_option(const char* name, const char* value);

/// The number of workers. Decides the options.
NOPAL_C_API unsigned nopal_num_workers(void);

// Returns, or ends the program with a sentence.
NOPAL_C_API void nopal_require_version(int version);

#if !defined(__cplusplus) && !defined(NOPAL_C_SHARED)
#include "nopal/c/scope.h"
#endif

NOPAL_C_API int nopal_start_as(int version);
/// Starts the workers, which otherwise the first fork does. Returns NOPAL_OK, NOPAL_REFUSED for a
/// variable of the environment, or NOPAL_OTHER_VERSION.
static inline int nopal_start(void) { return nopal_start_as(NOPAL_ABI_VERSION); }

/// Ends the workers' threads and returns when they have ended. The next fork starts others. Returns
/// NOPAL_OK, or NOPAL_BUSY where a strand calls it.
/// @pre No computation runs on another thread: that ends the program with a sentence.
NOPAL_C_API int nopal_stop(void);

/// What all workers did since the program began; vproc/statistics.h explains each.
struct nopal_statistics {
  uint64_t steals;
  uint64_t suspensions;
  uint64_t resumptions;
  uint64_t sleeps;
  uint64_t wakeups;
  uint64_t preemptions;
  uint64_t unmaps;
  uint64_t pages_returned;
  uint64_t page_counts;
  uint64_t stacks;
  uint64_t fiber_stacks;
  uint64_t stack_pages;
  uint64_t charged_pages;
  uint64_t suppressed_exceptions;
};
typedef struct nopal_statistics nopal_statistics;

NOPAL_C_API void nopal_statistics_of(nopal_statistics* all, size_t bytes);
/// Fills `all`.
/// @par Threads
/// Any thread.
static inline void nopal_stats(nopal_statistics* all) { nopal_statistics_of(all, sizeof *all); }

#if defined(__cplusplus)
} // extern "C"
#endif
