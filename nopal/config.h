// SPDX-License-Identifier: MIT
// What is fixed when a program is compiled. The library and every file that includes its headers
// must agree.
//
//   NOPAL_SERIAL             the serial elision: no library, no threads, same source
//   NOPAL_PROCESS_ON_THREADS programs on several processes run on the threads of one (process.h)
//   NOPAL_CHECKS             our own invariants are asserted (check builds)
//   NOPAL_SHARED             the library is libnopal.so, and not a part of the program
//   NOPAL_BASELINE="header"  benchmark builds only: the header names a baseline
//                            (bench/baseline/README.md) in the place of the parts below
#pragma once

// An older language has thousands of errors to tell: a file that is not there ends at the first.
#if defined(__cplusplus) && __cplusplus < 202002L
#error "Nopal is written in C++20: compile with -std=c++20 or later"
#include <nopal_needs_c++20>
#endif

// The version of these headers. A test compares it with that of the project in CMakeLists.txt.
#define NOPAL_VERSION_MAJOR 0
#define NOPAL_VERSION_MINOR 1
#define NOPAL_VERSION_PATCH 0
// For comparisons: 10203 is version 1.2.3.
#define NOPAL_VERSION                                                                              \
  (NOPAL_VERSION_MAJOR * 10000 + NOPAL_VERSION_MINOR * 100 + NOPAL_VERSION_PATCH)

#define NOPAL_JOINED_NAME(a, b) a##b
#define NOPAL_JOIN_NAMES(a, b) NOPAL_JOINED_NAME(a, b)

#if defined(NOPAL_BASELINE)
#include NOPAL_BASELINE
#else
#define NOPAL_SCOPE_FRAME_HEADER "nopal/join/scope_frame.h"
#define NOPAL_DEQUE_HEADER "nopal/deque/stack_map.h"
#define NOPAL_DEQUE stack_map
#define NOPAL_DEFAULT_STACK_BUDGET (std::size_t{64} << 20)
#define NOPAL_DEFAULT_MAX_STACKS 0
#endif
#if !defined(NOPAL_PROCESS_REGIONS) // 1: each process has a region of its own, in all of them
#define NOPAL_PROCESS_REGIONS 0
#endif
#if !defined(NOPAL_PROCESS_QUEUE_HEADER)
#define NOPAL_PROCESS_QUEUE_HEADER "nopal/process/transport/queue.h"
#endif

// Ends an overload that is chosen where no other one is. Compilers show the line, with the reason.
#define NOPAL_REFUSED(reason) = delete

// The inline namespace of all that depends on the version and on these choices: v0_1, v0_1_checked.
// Code of two versions, or that is compiled in two ways, has two names. So a file does not link
// with a library of another version or kind, and a program may contain both. Before 1.0 every minor
// version may change what the library and its headers agree on.
#if defined(NOPAL_CHECKS)
#define NOPAL_ABI_CHECKS _checked
#define NOPAL_IF_CHECKED(statement) statement
#define NOPAL_CHECKED_PART(...) __VA_ARGS__
#else
#define NOPAL_ABI_CHECKS
#define NOPAL_IF_CHECKED(statement) (void)0
#define NOPAL_CHECKED_PART(...)
#endif
#if defined(NOPAL_SERIAL)
#define NOPAL_ABI_KIND _serial
#elif defined(NOPAL_PARTS)
#define NOPAL_ABI_KIND NOPAL_JOIN_NAMES(NOPAL_ABI_CHECKS, NOPAL_JOIN_NAMES(_, NOPAL_PARTS))
#else
#define NOPAL_ABI_KIND NOPAL_ABI_CHECKS
#endif
#define NOPAL_VERSION_NAME                                                                         \
  NOPAL_JOIN_NAMES(NOPAL_JOIN_NAMES(v, NOPAL_VERSION_MAJOR),                                       \
                   NOPAL_JOIN_NAMES(_, NOPAL_VERSION_MINOR))
#define NOPAL_ABI NOPAL_JOIN_NAMES(NOPAL_VERSION_NAME, NOPAL_ABI_KIND)
// The same for the rooms that are compiled once for every choice of parts: base, config, arch,
// stack and mapped.
#define NOPAL_ABI_OF_ALL_PARTS NOPAL_JOIN_NAMES(NOPAL_VERSION_NAME, NOPAL_ABI_CHECKS)

// Around all that Nopal's headers declare. A program and the shared libraries that it loads may
// each contain Nopal (sched/copies.h); none is to use what another one has compiled. A program that
// is linked with libnopal.so (NOPAL_SHARED) finds it there.
//
// A class that users may give to classes of their own is a NOPAL_TYPE: its functions, and those of
// templates that are given it, are visible to others, but not replaced by theirs. GCC warns of
// classes that have members of a hidden type. What the library defines of it is NOPAL_OWN.
#if defined(NOPAL_SHARED)
#define NOPAL_HIDDEN_BEGIN
#define NOPAL_HIDDEN_END
#define NOPAL_TYPE
#define NOPAL_OWN
#else
#define NOPAL_HIDDEN_BEGIN                                                                         \
  _Pragma("GCC visibility push(hidden)") _Pragma("GCC diagnostic push")                            \
      _Pragma("GCC diagnostic ignored \"-Wattributes\"")
#define NOPAL_HIDDEN_END _Pragma("GCC diagnostic pop") _Pragma("GCC visibility pop")
#define NOPAL_OWN [[gnu::visibility("hidden")]]
#if defined(__clang__)
#define NOPAL_TYPE
#else
#define NOPAL_TYPE [[gnu::visibility("protected")]]
#endif
#endif
