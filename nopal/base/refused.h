// SPDX-License-Identifier: MIT
// Options with which a program that forks must not be compiled. The compiler refuses most of them
// here. Split stacks, and safe stacks in another file, end the linked program at its first fork.
#pragma once

#if !defined(__x86_64__) || defined(__ILP32__) || !defined(__linux__)
#error Nopal runs on x86-64 Linux, compiled with -m64, only
#endif

#if defined(__cplusplus)
#if !defined(__cpp_exceptions)
#error Nopal cannot be used in a file that is compiled with -fno-exceptions: an exception of a \
child would pass its fork unseen; compile this file with -fexceptions
#endif

#include <version>
#if defined(_LIBCPP_VERSION)
#error Nopal cannot be used with -stdlib=libc++: it uses std::stop_token and what libstdc++ tells \
of the exceptions of a thread; compile all of the program with -stdlib=libstdc++
#endif
#endif

#if defined(__has_feature)
#if __has_feature(safe_stack)
#error Nopal cannot be used with -fsanitize=safe-stack: it keeps local variables on another stack, \
which a thief does not take over; compile this program with -fno-sanitize=safe-stack
#endif
#if __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#error Nopal cannot be used with -fsanitize=memory or -fsanitize=hwaddress, which keep with a \
thread what belongs to a stack; it works with address, leak, thread and undefined
#endif
#if __has_feature(speculative_load_hardening)
#error Nopal cannot be used in a file that is compiled with -mspeculative-load-hardening, whose \
code looks for a return address where a thief has none; use -mno-speculative-load-hardening
#endif
#endif
