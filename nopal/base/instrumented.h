// SPDX-License-Identifier: MIT
// Whether a file is compiled with ThreadSanitizer (NOPAL_TSAN), and which functions are not
// instrumented (sanitizer.h).
#pragma once

#if defined(__SANITIZE_THREAD__)
#define NOPAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOPAL_TSAN 1
#endif
#endif

// NOPAL_SWITCHES concerns AddressSanitizer too, which would forget all poison of the stack at each
// call that does not return. NOPAL_READS_FRAMES is for functions that read or mark others' frames.
#if defined(__clang__)
#define NOPAL_SWITCHES __attribute__((disable_sanitizer_instrumentation))
#define NOPAL_READS_FRAMES __attribute__((disable_sanitizer_instrumentation))
#else
#define NOPAL_SWITCHES __attribute__((no_sanitize("address", "thread")))
#define NOPAL_READS_FRAMES __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

// The body of a child must be instrumented even where its thunk is not. NOPAL_IF_SEEN tells where
// strands are to be apart (races.h).
#if defined(NOPAL_TSAN)
#define NOPAL_THUNK NOPAL_SWITCHES
#define NOPAL_CHILD_BODY [[gnu::noinline]]
#define NOPAL_IF_SEEN(statement) statement
#else
#define NOPAL_THUNK
#define NOPAL_CHILD_BODY [[gnu::always_inline]]
#define NOPAL_IF_SEEN(statement) (void)0
#endif
