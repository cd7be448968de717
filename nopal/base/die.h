// SPDX-License-Identifier: MIT
// The last words of the runtime: one sentence on standard error, then a non-zero exit; and lines
// that are only said.
#pragma once

namespace nopal::base {

// Exit status of a program that Nopal ended: EX_SOFTWARE of sysexits.h, told apart from a crash
// and from main's own results.
inline constexpr int exit_status_died = 70;

// Prints `nopal: <sentence>` and a newline with a single write, so that lines of several threads
// do not mix, then ends the process with std::_Exit. It runs no destructor, no atexit handler and
// flushes no stream: workers are still running, the caller may stand on a stack that is not its
// own, and any of those could wait for a lock that a suspended strand holds. Sentences longer than
// a few kilobytes are cut, visibly.
[[noreturn]] void die(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

// The same from a signal handler, also on a small alternate stack: nothing but write and _exit, no
// formatting.
[[noreturn]] void die_in_signal_handler(const char* sentence) noexcept;

// Prints `nopal: <line>` and a newline with a single write, and goes on; errno is left as it was.
void say(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

} // namespace nopal::base
