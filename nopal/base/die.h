// SPDX-License-Identifier: MIT
// The runtime's messages on standard error. Some end the process with a non-zero exit status.
#pragma once

#include "nopal/config.h"

NOPAL_HIDDEN_BEGIN
namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base {

// The exit status of a program that Nopal ends: EX_SOFTWARE of sysexits.h, neither 0 nor 1.
inline constexpr int exit_status_died = 70;

// Prints `nopal: <sentence>` and a newline with a single write, so that lines of several threads
// do not mix, then ends the process with std::_Exit. No destructor and no atexit handler runs, and
// no stream is flushed: workers are still running, the caller may stand on a stack that is not its
// own, and a destructor, a handler or a flush could wait for a lock that a suspended strand holds.
// A sentence longer than a few kilobytes is cut, and ends with three dots.
[[noreturn, gnu::cold]] void die(const char* format, ...) noexcept
    __attribute__((format(printf, 1, 2)));

// Does the same in a signal handler, also on a small alternate stack: it formats nothing.
[[noreturn]] void die_in_signal_handler(const char* sentence) noexcept;

// Prints `nopal: <line>` and a newline with a single write, and returns. It leaves errno as it was.
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

} // namespace nopal::inline NOPAL_ABI_OF_ALL_PARTS::base
NOPAL_HIDDEN_END
