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
#if __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#error                                                                                             \
    "Nopal cannot be used with -fsanitize=memory or -fsanitize=hwaddress, which keep with a thread \
what belongs to a stack; it works with address, leak, thread and undefined"
#endif
#if __has_feature(speculative_load_hardening)
#error                                                                                             \
    "Nopal cannot be used in a file that is compiled with -mspeculative-load-hardening: its code \
looks for the address that it returned to where a thief does not have it; compile this file with \
-mno-speculative-load-hardening"
#endif
#endif

namespace nopal::base {

// Whether a file of this program was compiled with -fsplit-stack. Such a function finds the limit
// of the stack that it runs on in the thread, and may move to memory of the thread: neither is a
// strand's.
bool splits_stacks() noexcept;

// Whether one was compiled with -fsanitize=safe-stack: a part of its functions' frames lies on a
// stack of the thread, which goes on being used from there when their strand is on another.
bool has_safe_stacks() noexcept;

} // namespace nopal::base
