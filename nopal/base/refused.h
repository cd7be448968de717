// SPDX-License-Identifier: MIT
//
// What a program that forks must not be compiled with. Most of it stops the compiler; what shows
// only in the linked program stops that, at its first fork.
#pragma once

#if !defined(__x86_64__) || defined(__ILP32__) || !defined(__linux__)
#error "Nopal runs on x86-64 Linux, compiled with -m64, only"
#endif

#if !defined(__cpp_exceptions)
#error                                                                                             \
    "Nopal cannot be used in a file that is compiled with -fno-exceptions: an exception of a child \
would pass its fork unseen; compile this file with -fexceptions"
#endif

#if defined(__has_feature)
#if __has_feature(safe_stack)
#error                                                                                             \
    "Nopal cannot be used with -fsanitize=safe-stack: it keeps local variables on a second stack, \
which a thief does not take over; compile this program with -fno-sanitize=safe-stack"
#endif
#endif

namespace nopal::base {

// Whether a file of this program was compiled with -fsplit-stack. Such a function finds the limit
// of the stack that it runs on in the thread, and may move to memory of the thread: neither is a
// strand's.
bool splits_stacks() noexcept;

} // namespace nopal::base
