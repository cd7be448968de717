// SPDX-License-Identifier: MIT
// How a process that fork(2) has made is told from its parent.
#pragma once

#include "nopal/config.h"

#include <cstdint>

NOPAL_HIDDEN_BEGIN
namespace nopal::base {

/// How many calls of fork() lie between the process that began the program and this one. It has
/// grown when fork() returns in the child. What belongs to one process alone keeps the number that
/// it was made under, and is not used under another.
/// A child that a system call makes without fork() (_Fork, clone) keeps its parent's number: POSIX
/// allows such a child no more than what a signal handler may do.
/// @par Threads
/// Any, and signal handlers.
std::uint32_t forks_behind() noexcept;

} // namespace nopal::base
NOPAL_HIDDEN_END
